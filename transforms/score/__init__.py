"""What sums mean."""
