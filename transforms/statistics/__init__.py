"""What one segment contributes."""
