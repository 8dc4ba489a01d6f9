"""What the library adds to a pipeline."""
