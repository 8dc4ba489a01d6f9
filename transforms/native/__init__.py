"""The basis of compiled code: memory, columns, and the compiler with its cache."""
