"""The mean of numbers that were computed elsewhere: everything that only this metric has."""
