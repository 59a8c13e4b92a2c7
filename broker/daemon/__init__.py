"""The daemon: all components of the broker, and the process in which they run."""
