"""The `near` operator: its definition, its condition, and the feed reader that computes its pairs."""
