"""Operators as pure computation: the state and the outputs of each kind over feed messages."""
