"""BLEU: its columns, how they are counted, and how they become a score."""
