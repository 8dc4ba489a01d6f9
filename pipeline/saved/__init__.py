"""Reads results of earlier runs back: totals.json, merging, comparing in pairs, and gates."""
