"""Predicates: SQL text in, conjuncts of constraints out."""
