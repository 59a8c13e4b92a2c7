"""The daemon: everything that the broker runs, and the process it runs in."""
