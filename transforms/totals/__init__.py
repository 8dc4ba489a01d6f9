"""How contributions add up."""
