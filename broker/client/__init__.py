"""The client of a running daemon's HTTP API: what programs and the command line ask it with."""
