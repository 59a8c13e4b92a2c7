"""Shapes and positions: spatial tests of a position, the cells in which a test may hold, and its result."""
