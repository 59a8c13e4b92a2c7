"""Expressions: typed nodes, the rules of their types, and their spelling as Spark SQL."""
