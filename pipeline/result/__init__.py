"""Results as rows, and as the document scores.json, which is written and read here."""
