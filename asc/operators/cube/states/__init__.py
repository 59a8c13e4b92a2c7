"""The states of measures: one module for each kind of state."""
