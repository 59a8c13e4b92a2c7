"""``asc dbscan``: its commands, and their work."""
