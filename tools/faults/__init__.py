"""Faults made on purpose: a broker under random ones, and the books of what it delivered meanwhile."""
