"""Bounds on arguments that come from a record.

The result of a call is NULL if an argument is too long or too large, or makes Spark throw. The SQL text contains such
an argument more than once, and ``Node.weight`` counts every occurrence.
"""

from __future__ import annotations

from collections.abc import Callable

from asc.predicate.functions.function import Call, Spelling

MAX_LENGTH_CHARS = 10_000
"""The maximum length, in characters, of a text that a call makes if an argument from the record gives the length."""
MAX_SOUGHT_CHARS = 1_000
"""The maximum length of a text that is searched for, in characters.

A search takes time proportional to the product of the lengths of both texts.
"""
MAX_PAIR_CHARS = 100_000
"""The maximum product of the lengths of two texts that are compared character by character."""

_BOUNDED_LIST = """
array_join array_repeat btrim concat_ws contains find_in_set format_number instr levenshtein locate lpad ltrim
position repeat replace rpad rtrim sequence space split_part substring_index trim
"""
BOUNDED = frozenset(_BOUNDED_LIST.split())
"""The functions that return NULL if a value of the record exceeds a bound, although Spark's function would not."""

LEAST_INT, MOST_INT = -(1 << 31), (1 << 31) - 1

Bound = Callable[[Call], str]
"""A function that returns SQL for one argument of a call. The SQL is NULL if the argument has a forbidden value."""


def bounded(place: int, bound: Bound, *more: tuple[int, Bound]) -> Spelling:
    """Return a spelling (a function that writes the SQL of a call) that replaces the argument at ``place`` by its
    ``bound``, unless the argument is a constant.

    ``more``: further pairs of an argument's index and its bound.
    """
    bounds = {place: bound, **dict(more)}

    def spelled(call: Call) -> str:
        texts = [bounds[i](call) if i in bounds and arg.literal is None else arg.sql for i, arg in enumerate(call.args)]
        return f"{call.name}({', '.join(texts)})"

    return spelled


def integer_up_to(place: int, most: int | Callable[[Call], int] = MAX_LENGTH_CHARS) -> Bound:
    """Return a bound for an argument that is a length: the SQL gives NULL if the argument is greater than ``most``.

    The SQL replaces all negative values by -1, which has the same meaning, because Spark throws for the least integer.
    """

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} <= {most if isinstance(most, int) else most(call)}, greatest({integer}, -1), NULL)"

    return text


def integer_within(place: int, most: Callable[[Call], int]) -> Bound:
    """Return a bound for an integer argument: the SQL gives NULL if the argument is negative or greater than
    ``most``.
    """

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} BETWEEN 0 AND {most(call)}, {integer}, NULL)"

    return text


def integer_but_zero(place: int) -> Bound:
    """Return a bound for an integer argument: the SQL gives NULL if the argument is 0 or the least INT, whose negation
    overflows.
    """

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} <> 0 AND {integer} > {LEAST_INT}, {integer}, NULL)"

    return text


def _integer(call: Call, place: int) -> str:
    return f"CAST({call.args[place].sql} AS INT)"


def text_up_to(place: int, most_chars: int = MAX_SOUGHT_CHARS) -> Bound:
    """Return a bound for a text argument: the SQL gives NULL if the argument has more than ``most_chars``
    characters.
    """

    def text(call: Call) -> str:
        sql = call.args[place].sql
        return f"if(length({sql}) <= {most_chars}, {sql}, NULL)"

    return text


def sought_up_to(place: int, within: int) -> Bound:
    """Return a bound for the text argument at ``place``, which the call searches for in the argument at ``within``.

    The SQL gives NULL if the argument is too long, unless the other text is a short constant.
    """
    bound = text_up_to(place)
    return lambda call: call.args[place].sql if is_short_constant(call, within) else bound(call)


def text_beside(place: int, other: int, most: int = MAX_PAIR_CHARS) -> Bound:
    """Return a bound for a text argument: the SQL gives NULL if the product of two texts' lengths is greater than
    ``most``.

    The two texts are the arguments at the indices ``place`` and ``other``.
    """

    def text(call: Call) -> str:
        sql = call.args[place].sql
        return f"if(length({sql}) <= {most} DIV greatest(length({call.args[other].sql}), 1), {sql}, NULL)"

    return text


def is_short_constant(call: Call, place: int, most_chars: int = MAX_SOUGHT_CHARS) -> bool:
    """Return whether an argument is a constant of at most ``most_chars`` characters."""
    literal = call.args[place].literal
    return literal is not None and len(str(literal.value)) <= most_chars
