"""The basis of compiled code: memory, masks, columns, and the compiler with its cache."""
