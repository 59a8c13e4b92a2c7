"""The prose checker for sentences of pages and docstrings, and for subjects of commits."""
