"""Operators as pure computation: the state and output of events, pairs and their kin over feed messages."""
