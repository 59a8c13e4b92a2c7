"""Console pages of the operator kinds: one module for each kind, found by its name."""
