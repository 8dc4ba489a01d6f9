"""What the wiring of all rooms needs: threads, the coder of batches, and changes of steps."""
