"""Operators as pure computation: for each kind, the state and the outputs that follow from feed messages."""
