"""Shapes, and spatial tests whether a position has a relation to a shape. An index of cells finds the shapes for a
position, compiled loops decide, and in doubtful cases the library GEOS decides.
"""
