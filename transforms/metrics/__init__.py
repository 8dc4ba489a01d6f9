"""The metrics: a file or a folder for each one, with everything that only this metric has."""
