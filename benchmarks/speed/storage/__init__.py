"""Reading from an object store, against reading the same texts from local files."""
