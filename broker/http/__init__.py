"""The HTTP API, for the command line and programs."""
