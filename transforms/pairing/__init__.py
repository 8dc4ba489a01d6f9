"""How candidates meet references."""
