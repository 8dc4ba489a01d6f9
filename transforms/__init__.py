"""The library: the rooms on the way from text to scores, and the transforms built from them."""
