"""The cost of a join by ids, against the same texts line by line."""
