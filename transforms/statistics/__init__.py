"""Counts each segment: the integers of which scores are made, and signs of suspicious input."""
