"""Request bodies of the HTTP API, built from the Python values that a program passes to the client."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path

from broker.client.errors import InvalidRequestError
from broker.whole_file import QUERIES_BYTES_MAX, read_bounded

Body = Mapping[str, object]
"""The JSON object of one query: an answer of `Client.show`, a line of a queries file, or ``{"remove": ID}``, which
names a query to remove.
"""


def checked_mapping(what: str, value: object, example: str) -> Mapping[str, object]:
    """Return ``value`` if it is a mapping. Otherwise raise InvalidRequestError. ``what``: the name of the value in the
    error. ``example``: a valid value, which the error shows.
    """
    if not isinstance(value, Mapping):
        raise InvalidRequestError(f"{what} of type", type(value).__name__, f"give a mapping, as {example}")
    return value


def checked_body(body: object) -> dict[str, object]:
    """Return the JSON body of a query. Raise InvalidRequestError if the body is not a mapping, or if its field
    ``labels``, ``operator`` or ``join`` is neither a mapping nor None.
    """
    found = dict(checked_mapping("query", body, '{"id": "late", "where": "delay > 60"}'))
    for name, example in _PARTS.items():
        if found.get(name) is not None:
            checked_mapping(name, found[name], example)
    return found


_PARTS = {"labels": '{"team": "ops"}', "operator": '{"name": "near"}', "join": '{"layer": "zones"}'}
"""The fields of a query's body whose values have to be mappings, each with an example for the error."""


def query_body(query_id: str, where: str, **fields: object) -> dict[str, object]:
    """Return the JSON body of a query. ``fields``: its optional fields, such as ``topic``; fields with the value None
    are omitted.

    >>> query_body("late", "delay > 60", topic=None, paused=True)
    {'id': 'late', 'where': 'delay > 60', 'paused': True}
    """
    return {"id": query_id, "where": where, **given(**fields)}


def given(**fields: object) -> dict[str, object]:
    """Return the fields without those whose value is None. Times are converted to texts in ISO 8601."""
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def ndjson_of(queries: Iterable[Body] | str | PathLike[str]) -> bytes:
    """Return queries as NDJSON, one JSON body a line. ``queries``: the bodies, or the path of an NDJSON file, whose
    content is returned unchanged.

    Raise InvalidRequestError for an invalid body or a file larger than `QUERIES_BYTES_MAX`. Raise OSError if the file
    cannot be read.
    """
    if isinstance(queries, (str, PathLike)):
        path = Path(queries)
        with path.open("rb") as file:
            try:
                return read_bounded(file, QUERIES_BYTES_MAX)
            except ValueError as error:
                raise InvalidRequestError("file", str(path), f"{error}: divide it, or name the right one") from None
    if isinstance(queries, Mapping) or not isinstance(queries, Iterable):
        remedy = "give bodies of queries, as a list, or the path of a file of NDJSON"
        raise InvalidRequestError("queries of type", type(queries).__name__, remedy)
    return b"\n".join(_line(body, number) for number, body in enumerate(queries, 1))


def flags(**parameters: bool) -> dict[str, str]:
    """Return the parameters of a request's URL for the flags that are true. The daemon takes a missing flag as false.

    >>> flags(keep_going=True, dry_run=False)
    {'keep_going': 'true'}
    """
    return {name: "true" for name, is_on in parameters.items() if is_on}


def _line(body: Body, number: int) -> bytes:
    try:
        return json.dumps(checked_body(body)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequestError("query", f"number {number}", f"cannot be written as JSON: {error}") from None


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
