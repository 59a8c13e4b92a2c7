"""The HTTP API: what the command line and programs talk to."""
