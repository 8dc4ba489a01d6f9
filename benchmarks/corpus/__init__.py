"""The text that the benchmarks score: how it is made, and the folder that keeps it."""
