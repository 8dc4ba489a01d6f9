"""Results as tables of Arrow, for notebooks and programs."""
