"""Tuples in requests: their JSON text, the values of their p-attributes, and the warnings about them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.plan.plan import Plan
from broker.errors import QueryError
from broker.stream.stream import Stream

_WITHOUT_A_RECORD = {"_key": "NULL", "_partition": "0", "_offset": "0", "_timestamp": "NULL", "_headers": "NULL"}
"""The values, as texts, of the attributes that Kafka gives a record, such as ``_offset``, if a tuple without a record
is evaluated. The value of ``_topic`` is the stream's topic.
"""

_TUPLE_BYTES = 1 << 20
"""The most bytes of the JSON text of a tuple."""

_UNKNOWN_COUNT = 20
"""The largest number of unknown fields of a tuple for which there are warnings."""

_FAILED_COUNT = 20
_NAME_CHARS = 200

_OWN_ATTRIBUTE = re.compile(
    rf"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.`])`?({"|".join(_WITHOUT_A_RECORD)})(?!\w)""",
    re.IGNORECASE | re.DOTALL,
)
"""A pattern that finds attributes such as ``_offset``, which Kafka gives a record, in an expression. It skips quoted
texts and fields of structs.
"""


def tuple_text(tuple_: Mapping[str, Any]) -> bytes:
    """Return a tuple as the JSON text that the value of a record would have, in UTF-8. Raise QueryError if it is too
    large.
    """
    text = json.dumps(tuple_, ensure_ascii=False).encode("utf-8", "replace")
    if len(text) > _TUPLE_BYTES:
        raise QueryError("tuple", f"{len(text)} bytes", f"give one of {_TUPLE_BYTES} bytes at most")
    return text


def tuple_warnings(stream: Stream, tuple_: Mapping[str, Any], read: Iterable[PAttribute]) -> list[str]:
    """Return the warnings about a tuple. There is a warning for a field that the stream's schema does not have, because
    such a field is ignored.

    If p-attributes in ``read`` use attributes such as ``_offset``, there are also warnings about the values that are
    assumed for them.
    """
    known = stream.fields.arrow.names
    unknown = islice((name for name in tuple_ if name not in known), _UNKNOWN_COUNT)
    return [*(f"field '{name}': {_unknown(name, known)}" for name in unknown), *_taken_for(read)]


def failure_warnings(failed: Iterable[PAttribute]) -> list[str]:
    """Return a warning for each of the first p-attributes that could not be evaluated. The warning explains why a term
    of the predicate is not true: its p-attribute counts as NULL.
    """
    return [
        f"'{one.sql[:_NAME_CHARS]}' could not be evaluated, and counts as NULL" for one in islice(failed, _FAILED_COUNT)
    ]


def in_slots(plan: Plan, attributes: Sequence[PAttribute], values: Sequence[Any]) -> list[Any]:
    """Return one value for each p-attribute of a plan, in the plan's order. ``attributes``, ``values``: the
    p-attributes with known values, and these values. All other values are NULL.
    """
    found = dict(zip(attributes, values, strict=True))
    return [found.get(one, pa.scalar(None, one.type)) for one in plan.p_attributes]


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"not in the stream's schema, excluded{f': did you mean {near[0]!r}?' if near else ''}"


def _taken_for(attributes: Iterable[PAttribute]) -> Iterator[str]:
    """Yield a warning for each attribute such as ``_offset`` that the p-attributes use. A tuple has no record, so these
    attributes have assumed values.
    """
    used = {found.lower() for attribute in attributes for found in _OWN_ATTRIBUTE.findall(attribute.sql)}
    for name, value in _WITHOUT_A_RECORD.items():
        if name in used:
            yield f"'{name}' is followed as {value}: a tuple has no record around it"
