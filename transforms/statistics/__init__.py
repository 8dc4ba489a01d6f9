"""Computes the integers of each segment."""
