"""Two lists of representations -> Gram matrix, one module a kernel. Knows arrays, not text."""
