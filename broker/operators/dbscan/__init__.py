"""The `dbscan` operator: its definition, and the feed reader that computes its clusters."""
