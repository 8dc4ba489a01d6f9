"""The folder of a result: its files, where they are, and how they are put in place."""
