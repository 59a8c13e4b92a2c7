"""The client of a running daemon's HTTP API, for programs and the command line."""
