"""The HTTP API, for the command line and programs, and the console, for browsers."""
