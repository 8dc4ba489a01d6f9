"""Records: each one holds a candidate and its references."""
