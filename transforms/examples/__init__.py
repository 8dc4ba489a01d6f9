"""Segments to look at, how the scores of all are distributed, and how varied candidates are."""
