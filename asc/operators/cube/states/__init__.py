"""The states of measures: one kind a module."""
