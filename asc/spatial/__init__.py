"""Shapes and positions: spatial tests of a position, evaluated with an index of cells and, in doubtful
cases, by GEOS.
"""
