"""Operators: the kinds of computation that queries apply to their accepted records, and the records that result."""
