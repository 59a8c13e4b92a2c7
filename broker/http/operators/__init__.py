"""API addresses and metrics of the operator kinds: modules for each kind, found by their names."""
