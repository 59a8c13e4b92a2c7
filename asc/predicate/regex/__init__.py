"""Patterns: regular expressions and LIKE, parsed, bounded, and rewritten so that a match takes linear time."""
