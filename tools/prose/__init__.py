"""The checker of prose: sentences of pages, docstrings and comments, and subjects of commits."""
