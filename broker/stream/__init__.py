"""A stream: its schema, its job, and all that goes with it."""
