"""The HTTP API, which the command line and programs use, and the console, which shows the daemon in a browser."""
