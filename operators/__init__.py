"""Operators that compute: what becomes of the records that queries accept, beside being sent on. Pure computation."""
