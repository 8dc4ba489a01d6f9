"""Measures what planning a massive corpus costs, with corpora of which only the metadata exists."""
