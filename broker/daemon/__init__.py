"""The daemon: its components, the process in which they run, and leader election."""
