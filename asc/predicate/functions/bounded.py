"""Arguments that a record makes, bounded: where one is too long, too large or makes Spark throw, the result is NULL.

The text names such an argument more than once: ``Node.weight`` counts it as often.
"""

from __future__ import annotations

from collections.abc import Callable

from asc.predicate.functions.function import Call, Spelling

MAX_LENGTH_CHARS = 10_000
"""Of a text that a number of the record makes."""
MAX_SOUGHT_CHARS = 1_000
"""Of what is sought in a text: the two take the product of their lengths."""
MAX_PAIR_CHARS = 100_000
"""The product of the lengths of two texts that are held against each other character by character."""

_BOUNDED_LIST = """
array_join array_repeat btrim concat_ws contains find_in_set format_number instr levenshtein locate lpad ltrim
position repeat replace rpad rtrim sequence space split_part substring_index trim
"""
BOUNDED = frozenset(_BOUNDED_LIST.split())
"""Functions that are NULL beyond a bound where Spark would go on, if it is a record that asks for so much."""

LEAST_INT, MOST_INT = -(1 << 31), (1 << 31) - 1

Bound = Callable[[Call], str]


def bounded(place: int, bound: Bound, *more: tuple[int, Bound]) -> Spelling:
    """Return the call, with those of its arguments at these places that are no constants bounded."""
    bounds = {place: bound, **dict(more)}

    def spelled(call: Call) -> str:
        texts = [bounds[i](call) if i in bounds and arg.literal is None else arg.sql for i, arg in enumerate(call.args)]
        return f"{call.name}({', '.join(texts)})"

    return spelled


def integer_up_to(place: int, most: int | Callable[[Call], int] = MAX_LENGTH_CHARS) -> Bound:
    """Return a length, NULL where it is larger. All below 0 are the same, and Spark throws for the least."""

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} <= {most if isinstance(most, int) else most(call)}, greatest({integer}, -1), NULL)"

    return text


def integer_within(place: int, most: Callable[[Call], int]) -> Bound:
    """Return an integer from 0 on, NULL where it is none of those."""

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} BETWEEN 0 AND {most(call)}, {integer}, NULL)"

    return text


def integer_but_zero(place: int) -> Bound:
    """Return an integer, NULL where it is 0 or the least there is, which has no counterpart above 0."""

    def text(call: Call) -> str:
        integer = _integer(call, place)
        return f"if({integer} <> 0 AND {integer} > {LEAST_INT}, {integer}, NULL)"

    return text


def _integer(call: Call, place: int) -> str:
    return f"CAST({call.args[place].sql} AS INT)"


def text_up_to(place: int, most_chars: int = MAX_SOUGHT_CHARS) -> Bound:
    """Return a text, NULL where it is longer."""

    def text(call: Call) -> str:
        sql = call.args[place].sql
        return f"if(length({sql}) <= {most_chars}, {sql}, NULL)"

    return text


def sought_up_to(place: int, within: int) -> Bound:
    """Return a bound of the text that is sought in the text at another place.

    It is NULL where it is long, unless the other text is a short constant.
    """
    bound = text_up_to(place)
    return lambda call: call.args[place].sql if is_short_constant(call, within) else bound(call)


def text_beside(place: int, other: int, most: int = MAX_PAIR_CHARS) -> Bound:
    """Return a text, NULL where the product of its length and that of the one at another place is larger."""

    def text(call: Call) -> str:
        sql = call.args[place].sql
        return f"if(length({sql}) <= {most} DIV greatest(length({call.args[other].sql}), 1), {sql}, NULL)"

    return text


def is_short_constant(call: Call, place: int, most_chars: int = MAX_SOUGHT_CHARS) -> bool:
    """Return whether an argument is a constant of no more characters."""
    literal = call.args[place].literal
    return literal is not None and len(str(literal.value)) <= most_chars
