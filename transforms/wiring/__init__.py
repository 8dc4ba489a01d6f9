"""The basis of all wiring: threads, the coder of batches, and what a pipeline does to steps."""
