"""Adds up the statistics of segments: by system, slice, document and replicate."""
