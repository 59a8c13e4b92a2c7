"""The `dbscan` operator: its definition, and the reader of its observations."""
