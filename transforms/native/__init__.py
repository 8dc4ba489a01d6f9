"""What compiled code stands on: memory, columns, and the compiler with its cache."""
