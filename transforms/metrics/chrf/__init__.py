"""chrF: everything that only this metric has (Popović 2015, https://aclanthology.org/W15-3049)."""
