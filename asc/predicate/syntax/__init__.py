"""Syntax: tokens, literals and types of a predicate, and the tree that its text is parsed to."""
