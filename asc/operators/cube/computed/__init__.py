"""Computed dimensions of cubes: dimensions whose keys workers compute from several values of a record."""
