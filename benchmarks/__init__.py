"""The benchmarks: each folder is a separate program (see README.md)."""
