"""The `cube` operator: exact roll-ups of a query's accepted records, and the keeper, which stores them in the file of a
stream's cubes.
"""
