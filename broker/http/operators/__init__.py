"""API endpoints and metrics of the operator kinds. Each kind has separate modules, which are imported by the name of
the kind.
"""
