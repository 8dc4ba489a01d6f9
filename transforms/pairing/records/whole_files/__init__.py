"""Parsers of files that are read whole: a module for each program or family of formats."""
