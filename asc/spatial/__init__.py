"""Shapes and positions: what is asked of a position, where it may hold, and whether it does."""
