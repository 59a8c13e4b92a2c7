"""``asc cube``: its commands, and what they do."""
