"""Layers: shapes in compacted topics, which predicates name."""
