"""What a run does if its output folder already has a result."""
