"""The standing queries: judged, written to the registry, put into the running plans."""
