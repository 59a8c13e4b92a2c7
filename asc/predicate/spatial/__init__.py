"""Spatial forms: conditions with ST_ functions, their operands, and the shapes of layers that a text names."""
