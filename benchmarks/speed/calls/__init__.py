"""Calls without a pipeline."""
