"""What slices cost: the runs with 200 slices, against the runs without."""
