"""Computes scores from sums, and how much chance is in them: standard errors and p-values."""
