"""Shows segments of a result: from its examples, or from the scores of all segments."""
