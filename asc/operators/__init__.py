"""The pure computation of operators: for each kind, the state and the outputs that follow from the messages
of a feed.
"""
