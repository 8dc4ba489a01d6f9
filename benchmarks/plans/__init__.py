"""Measures the plans of massive corpora. Only the metadata of these corpora exists."""
