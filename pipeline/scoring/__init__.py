"""What a job is asked to compute, what it adds up for that, and the rows of its result."""
