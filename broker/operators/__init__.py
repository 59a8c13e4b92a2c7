"""Operators: the processing of accepted records, and the outputs of this processing."""
