"""Adds up the statistics of segments."""
