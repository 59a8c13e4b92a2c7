"""Conditions with ST_ functions, the operands of these functions, and the shapes of layers that a predicate names."""
