"""Calls without a pipeline: lists of texts, and one sentence at a time."""
