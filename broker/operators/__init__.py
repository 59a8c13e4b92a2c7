"""Operators: what becomes of accepted records."""
