"""Calls without a pipeline: scores of texts that are in the memory of a program."""
