"""What compiled code needs: memory, masks, columns, and the compiler with its cache."""
