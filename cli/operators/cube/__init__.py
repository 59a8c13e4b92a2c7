"""The commands of ``asc cube``, and their implementation."""
