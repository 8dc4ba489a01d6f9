"""Makes the text that the benchmarks score, and keeps it in a folder."""
