"""The pure part of the monitor: statistics of samples, the search for sequences, and the rule for when to
search again.
"""
