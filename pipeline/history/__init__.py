"""The history of scores: finds the results of several nights in order, and what changed."""
