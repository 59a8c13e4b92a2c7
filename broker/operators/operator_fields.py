"""Checks of the fields of an ``operator`` in JSON, in the form of the registry and of the API. Each error names the
field in one line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from broker.errors import QueryError

_EXPRESSION_CHARS_MAX = 10_000


def check_known(plain: Mapping[str, object], known: Collection[str]) -> None:
    """Raise QueryError if ``plain`` has a field that is not in ``known``."""
    for name in plain:
        if name not in known:
            raise QueryError("field operator", name, f"is not known: known are {', '.join(known)}")


def key_of(operator: str, plain: Mapping[str, object]) -> str:
    """Return the expression that identifies an object. Raise QueryError if it is missing."""
    if plain.get("key") is None:
        raise QueryError("operator", operator, "has no key: name the expression that identifies an object")
    return expression_of("key", plain["key"])


def expression_of(name: str, value: object) -> str:
    """Return an expression over the record. Raise QueryError if the value is not an expression."""
    if not isinstance(value, str) or not value.strip() or len(value) > _EXPRESSION_CHARS_MAX:
        remedy = f"give an expression over the record, of at most {_EXPRESSION_CHARS_MAX:,} characters"
        raise QueryError(f"operator.{name}", shown(value), remedy)
    try:
        # JSON can spell half of a surrogate pair, which no encoding can write.
        value.encode()
    except UnicodeEncodeError:
        fault = "holds half of a surrogate pair: write whole characters"
        raise QueryError(f"operator.{name}", shown(value), fault) from None
    return value


def kinds_of(kinds: object, known: Sequence[str]) -> tuple[str, ...]:
    """Return the requested types of output, in the order of ``known``. Raise QueryError if no type is requested, or if
    one is unknown.
    """
    remedy = f"give a list of some of {', '.join(known)}"
    if not isinstance(kinds, Sequence) or isinstance(kinds, str) or not kinds:
        raise QueryError("operator.events", shown(kinds), remedy)
    for each in kinds:
        if each not in known:
            raise QueryError("operator.events", shown(each), remedy)
    return tuple(kind for kind in known if kind in kinds)


def number_of(name: str, value: object, *, least: float, most: float, what: str = "seconds") -> float:
    """Return a number, rounded to a millionth of its unit. Raise QueryError if it is not a number or is out of
    range.
    """
    if value is None:
        raise QueryError(f"operator.{name}", None, f"is missing: give {what}, from {least} to {most:,}")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:  # type: ignore[operator]
        remedy = f"give {what}, from {least} to {most:,}{', as a number' if isinstance(value, str) else ''}"
        raise QueryError(f"operator.{name}", shown(value), remedy)
    number = round(float(value), 6)  # type: ignore[arg-type]
    return int(number) if number.is_integer() else number


def shown(value: object) -> str:
    """Return a user's value as text for an error."""
    return str(value).encode("utf-8", "replace").decode()[:200]
