"""What the plans of massive corpora cost; these corpora exist as metadata only."""
