"""How much longer than the text of a record the result of a call may be."""

from __future__ import annotations

from asc.predicate.functions.function import Call, Growth


def longest(call: Call) -> float:
    """Return the growth of the argument that grows most."""
    return max((arg.growth for arg in call.args), default=1.0)


def joined(call: Call) -> float:
    """Return the sum of the growths of the arguments, as for texts that are joined."""
    return max(1.0, sum(arg.growth for arg in call.args if arg.literal is None))


def times(factor: float) -> Growth:
    """Return a growth by a factor, for calls that make at most ``factor`` bytes of each byte."""
    return lambda call: factor * longest(call)
