"""The `events` operator: its definition, and the feed reader that computes its events."""
