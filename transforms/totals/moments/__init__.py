"""Sums of products: what a standard error, and a comparison of two systems, needs of a corpus."""
