"""Refusals of questions, translated for the command line: names of options instead of fields, and lengths with
units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from cli.failure import CommandError

_LENGTHS: Mapping[str, str] = MappingProxyType({"grain_s": "--grain", "last_s": "--last"})
_OPTIONS: Mapping[str, str] = MappingProxyType({**_LENGTHS, "answer_from": "--answer-from"})
_FIELD = re.compile(r"\b(grain_s|last_s|answer_from)\b(?: ([0-9]{1,18})\b)?", re.ASCII)
_VALUE = re.compile(r"((?:\bgive|\bas|\bor|,) )([0-9]{1,18})\b(?![-:])", re.ASCII)
"""A length that a remedy proposes, and the text before it. The lookahead excludes the year of a date."""


@contextmanager
def by_options() -> Iterator[None]:
    """Replace a daemon's refusal of a field by an error that names the option, with lengths in the form that the option
    accepts.
    """
    from broker.client.errors import RefusedError

    try:
        yield
    except RefusedError as error:
        remedy = _FIELD.sub(lambda match: _with_option(match[1], match[2]), error.remedy)
        option, value = _OPTIONS.get(error.subject), error.value
        if option is not None and error.subject in _LENGTHS:
            remedy = _VALUE.sub(lambda match: f"{match[1]}{length_text(option, int(match[2]))}", remedy)
            remedy = remedy.replace("give seconds that divide", "give a length that divides")
            value = length_text(option, value) if type(value) is int else value
        if option is None and remedy == error.remedy:
            raise
        raise CommandError(option or error.subject, value, remedy) from error


def length_text(option: str, seconds: int) -> str:
    """Return a length of time in the form that an option accepts. As a grain, ``1d`` means a day of the time zone, and
    ``24h`` means a day of UTC.

    >>> length_text("--grain", 86_400), length_text("--grain", 604_800), length_text("--last", 2_610_000)
    ('24h', '7d', '725h')
    """
    # Imported here, so that a command that succeeds does not load the definition.
    from asc.operators.cube.view import grain_text

    text = grain_text(seconds)
    return "24h" if option == "--grain" and text == "1d" else text


def _with_option(field: str, seconds: str | None) -> str:
    option = _OPTIONS[field]
    return option if seconds is None else f"{option} {length_text(option, int(seconds))}"
