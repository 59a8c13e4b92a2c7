"""Syntax: the tokens, literals and types of a predicate, and the syntax tree of its text."""
