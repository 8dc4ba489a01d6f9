"""Computes scores from sums."""
