"""``asc demo``: demonstrations that send packaged samples through the whole system, and compare the results with other
engines.
"""
