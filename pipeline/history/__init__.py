"""The history of scores: results of several nights, in their order, and what changed."""
