"""ROUGE (Lin 2004, https://aclanthology.org/W04-1013): all that only these metrics have."""
