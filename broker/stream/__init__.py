"""A stream: its schema, its job, and their parts."""
