"""The benchmarks: each folder is a program of its own (see README.md)."""
