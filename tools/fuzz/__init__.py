"""Inputs by the hundred thousand that nobody wrote, each in a process that is watched: ``python -m tools.fuzz``."""
