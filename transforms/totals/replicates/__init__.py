"""Replicates of a corpus: sums in which each unit has a random weight."""
