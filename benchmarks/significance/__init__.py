"""Simulates how often p-values raise false alarms, and how often intervals contain the truth."""
