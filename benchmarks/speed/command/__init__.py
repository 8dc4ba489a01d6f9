"""The whole command: against other programs, against itself, and by the form of its input."""
