"""What a job is asked to compute, and all that it has added up for this."""
