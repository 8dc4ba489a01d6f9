"""TER: everything that only this metric has."""
