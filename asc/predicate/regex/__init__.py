"""Patterns: regular expressions and LIKE, read, bounded, and rewritten so that a match takes linear time."""
