"""The growth of a call: the factor by which its result may be longer than the text of the record. The growth of an
argument is defined in the same way.
"""

from __future__ import annotations

from asc.predicate.functions.function import Call, Growth


def longest(call: Call) -> float:
    """Return the greatest factor by which an argument of the call may be longer than the record."""
    return max((arg.growth for arg in call.args), default=1.0)


def joined(call: Call) -> float:
    """Return the sum of the factors by which the arguments may be longer than the record, for functions that
    concatenate texts.
    """
    return max(1.0, sum(arg.growth for arg in call.args if arg.literal is None))


def times(factor: float) -> Growth:
    """Return a function that computes the growth of a call, for functions whose result has at most ``factor`` bytes for
    each byte of the longest argument.
    """
    return lambda call: factor * longest(call)
