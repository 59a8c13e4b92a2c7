"""Importers of queries from other systems."""
