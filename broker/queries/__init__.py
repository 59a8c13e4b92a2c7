"""The standing queries: their validation, the registry that stores them, and their place in the running plans."""
