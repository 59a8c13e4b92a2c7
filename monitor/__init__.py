"""The part of the monitor without input and output: statistics of samples, the search for sequences, and the rule that
decides when to search again.
"""
