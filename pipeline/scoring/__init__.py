"""What a job is asked to compute, and everything that it has added up to do so."""
