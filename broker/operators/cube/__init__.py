"""The `cube` operator: exact roll-ups of accepted records."""
