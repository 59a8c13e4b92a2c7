"""Importers that translate queries of other systems to predicates."""
