"""The `near` operator: its definition, its condition, and the reader of its observations."""
