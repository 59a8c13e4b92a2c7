"""SQL in which an expression occurs once and is bound to a name that may be used several times.

The name is a variable of a lambda over an array with one element, since Spark has no other way to name a value. The
body may use no name but the variable, because a column of the same name would be read as the variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def bound(value: str, body: str, name: str = "p") -> str:
    """Return SQL that evaluates ``body`` with ``name`` bound to a value.

    >>> bound("sort_array(tags)", "p[0] = p[1]")
    'transform(array(sort_array(tags)), p -> p[0] = p[1])[0]'
    """
    return f"transform(array({value}), {name} -> {body})[0]"


def bound_together(values: Sequence[str], body: str) -> str:
    """Return SQL that evaluates ``body`` with names bound to several values.

    ``p.a`` is bound to the first value, ``p.b`` to the second, and so on.

    >>> bound_together(["xs", "5"], "slice(p.a, 1, p.b)")
    'transform(array(struct(xs AS a, 5 AS b)), p -> slice(p.a, 1, p.b))[0]'
    """
    fields = ", ".join(f"{value} AS {name}" for name, value in zip(names(len(values)), values, strict=True))
    return bound(f"struct({fields})", body)


def names(count: int) -> Sequence[str]:
    """Return ``count`` names for the values of :func:`bound_together`: a, b, ..., z, then a26, ..."""
    return [chr(ord("a") + i) if i < 26 else f"a{i}" for i in range(count)]


def unused_name(text: str) -> str:
    """Return a name for a bound value that does not occur in a text.

    >>> unused_name("x -> x > p.p_")
    'p__'
    """
    found = set(re.findall(r"\w+", text.lower()))
    name = "p"
    while name in found:
        name += "_"
    return name
