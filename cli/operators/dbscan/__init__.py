"""The commands of ``asc dbscan``, and their implementation."""
