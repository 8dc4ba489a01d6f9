"""Saved totals: the file totals.json, and the subcommands that read it."""
