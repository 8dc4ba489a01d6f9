"""Perplexity: everything that only this metric has. It reads numbers, and no text is scored."""
