"""Matching of DataFrames with a plan: the data that goes to Spark's Python workers, the code that runs there, and the
results.
"""
