"""The `cube` operator: exact roll-ups of accepted records, and the keeper that stores them."""
