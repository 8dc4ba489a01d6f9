"""Counts the n-grams of long texts that match, for every metric that has them."""
