"""The standing queries: their validation, the registry that stores them, and their compilation into the
running plans.
"""
