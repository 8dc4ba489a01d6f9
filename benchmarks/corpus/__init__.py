"""Generates the texts that the benchmarks score, and keeps them in a folder."""
