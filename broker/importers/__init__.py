"""Queries of other systems as predicates."""
