"""Console pages of the operator kinds: one module for each kind, which is imported by the name of the kind."""
