"""Simulates how often p-values give false alarms, and how often intervals hold."""
