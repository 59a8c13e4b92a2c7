"""Operators: the processing of accepted records, and its outputs."""
