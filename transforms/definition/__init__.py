"""What slices and replicates are, and how choices are declared: each in one row of a table."""
