"""The standing queries: validated, written to the registry, put into the running plans."""
