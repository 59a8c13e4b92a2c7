"""The checker of prose: sentences of pages and docstrings, and subjects of commits."""
