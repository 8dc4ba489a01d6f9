"""Segments to look at: the best and the worst ones, and how the scores of all are distributed."""
