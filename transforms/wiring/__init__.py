"""What the wiring of every room stands on: threads, and coders of batches."""
