"""What evidence costs: the runs with it, against the runs without."""
