"""The speed and the memory of the command, against other programs and against itself."""
