"""Queries files in NDJSON, JSON and TOML: read for the daemon and for ``asc match``, and written."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from asc.json_fault import json_fault
from broker.errors import InputError
from broker.files.bounded_file import read_whole
from broker.toml_text import parse_toml
from broker.whole_file import QUERIES_BYTES_MAX

FORMATS = ("ndjson", "json", "toml")

_SUFFIXES: Mapping[str, str] = MappingProxyType({".toml": "toml", ".ndjson": "ndjson", ".jsonl": "ndjson"})
"""File suffixes that decide the form regardless of the content. A .json file may be in two forms, so .json is
absent.
"""

Json = dict[str, Any]

_SETTABLE = ("id", "stream", "where", "topic", "labels", "paused", "expires_at", "join", "operator")
_PAGE_KEYS = {"queries", "cursor"}
_MAY_REMOVE = re.compile(rb"remove|[\\\0]")
"""A pattern that matches every line that removes a query. The key may be spelled with escapes, or in UTF-16."""

_REMEDY = 'write one a line: {"id": "late", "where": "delay > 60"}'


def read_queries(path: Path) -> dict[str, str]:
    """Return the predicates of a file by query id. The file has any of the forms of `bodies`.

    Raise InputError if the file cannot be read, has no query, repeats an id, or has a predicate that is not a text.
    Raise InputError also for a join, because it cannot be evaluated on the rows of a file alone.
    """
    content = read_whole(path, QUERIES_BYTES_MAX)
    queries: dict[str, str] = {}
    for place, body in bodies(content, form_of(path.name, content), path.name):
        query_id, where = body.get("id"), body.get("where")
        if not isinstance(query_id, str) or not query_id or not isinstance(where, str):
            raise InputError("no query in file", str(path), f'{place} needs "id" and "where", both texts')
        if query_id in queries:
            raise InputError("duplicate query id", query_id, f"it occurs twice in {path}: remove one")
        if body.get("join") is not None:
            remedy = "'asc match' takes none: leave it out, or match it with broker.match and asc.Join"
            raise InputError("join in a file of queries", query_id, remedy)
        queries[query_id] = where
    if not queries:
        raise InputError("no queries in file", str(path), _REMEDY)
    return queries


def as_ndjson(content: bytes, form: str, name: str) -> tuple[bytes, list[str]]:
    """Return the queries of a file as NDJSON for the daemon, and the location of each query with the file's name.

    NDJSON is returned unchanged, because the daemon reports faulty lines. Raise InputError if a file of another form
    cannot be read, has no query, or removes a query.
    """
    if form == "ndjson":
        places = []
        for number, line in enumerate(content.split(b"\n"), 1):
            places.append(f"{name} line {number}")
            if _MAY_REMOVE.search(line) is not None:
                check_no_removal(_parsed_json(line), places[-1])
        if not content.removeprefix(codecs.BOM_UTF8).strip():
            raise no_queries(name)
        return content, places
    placed_bodies = [(f"{name} {place}", body) for place, body in bodies(content, form, name)]
    for place, body in placed_bodies:
        check_no_removal(body, place)
    if not placed_bodies:
        raise no_queries(name)
    # A time of TOML is no text yet.
    lines = [json.dumps(body, default=str) for _, body in placed_bodies]
    return "\n".join(lines).encode(), [place for place, _ in placed_bodies]


def form_of(name: str, content: bytes) -> str:
    """Return the form of a file, one of ``FORMATS``.

    The suffix of the name decides. If it is .json or unknown, the content decides. Raise InputError if neither decides.

    >>> form_of("q.toml", b""), form_of("q.json", b'{"late": "delay > 60"}'), form_of("<stdin>", b"[]")
    ('toml', 'json', 'json')
    >>> form_of("q.json", b'{"id": "late", "where": "delay > 60"}'), form_of("<stdin>", b'late = "delay > 60"')
    ('ndjson', 'toml')
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    text = content.decode("utf-8-sig", "replace")
    first_line = next((line for line in text.split("\n") if line.strip()), "")
    if _is_query(_parsed_json(first_line)):
        return "ndjson"
    if suffix == ".json" or _parsed_json(text) is not None:
        return "json"
    if _is_toml(text):
        return "toml"
    if not any(line.lstrip().startswith("{") for line in text.split("\n")):
        # Otherwise, the daemon would report each line as an invalid query.
        raise InputError("no queries in file", name, f"it is neither NDJSON nor JSON nor TOML; {_REMEDY}")
    return "ndjson"


def bodies(content: bytes, form: str, name: str) -> Iterator[tuple[str, Json]]:
    """Return the queries of a file as bodies for the API, each with a description of its location.

    NDJSON has an object per line. JSON is a list of such objects, a single one, or a page in the form of the API's
    answer. JSON and TOML may also map ids to predicates, or to objects without the id. Raise InputError for other
    content.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text, file", name, f"byte {error.start} is not; save it as UTF-8") from None
    if form == "ndjson":
        return _of_lines(text, name)
    return _of_document(_toml(text, name) if form == "toml" else _json(text, name), name)


def no_queries(name: str) -> InputError:
    """Return the error for a file without queries, for commands that take the file as the complete set of queries."""
    return InputError("no queries in file", name, "a file that was cut short has none either: write one, or delete it")


def check_no_removal(body: object, place: str) -> None:
    """Raise InputError for a line that removes a query. The API accepts such lines, but files contain only queries."""
    if isinstance(body, dict) and body.keys() == {"remove"}:
        query_id = str(body["remove"])
        remedy = (
            f"is in {place}, and files hold queries alone: 'asc query remove ID' removes it, --prune what no file has"
        )
        raise InputError("removal of query", query_id, remedy)


def queries_text(queries: Iterable[Mapping[str, Any]], form: str) -> str:
    """Return registered queries in one of ``FORMATS``, with only the fields that a user can set.

    'asc query apply' registers the same queries from the text.

    >>> late = {"id": "late", "where": "delay > 60", "labels": {"team": "ops"}, "expires_at": None, "version": 7}
    >>> print(queries_text([late], "ndjson"))
    {"id": "late", "where": "delay > 60", "labels": {"team": "ops"}}
    >>> print(queries_text([late], "toml"))
    [late]
    where = "delay > 60"
    <BLANKLINE>
    [late.labels]
    team = "ops"
    """
    settable = [_settable(query) for query in queries]
    if form == "json":
        return json.dumps(settable, indent=2, ensure_ascii=False)
    if form == "ndjson":
        return "\n".join(json.dumps(query, ensure_ascii=False) for query in settable)
    from broker.files.toml_lines import toml_lines

    tables = {query["id"]: {key: value for key, value in query.items() if key != "id"} for query in settable}
    return "\n".join(toml_lines(tables)).lstrip("\n")


def _settable(query: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: query[key] for key in _SETTABLE if query.get(key) is not None}
    if "operator" in found:
        from broker.operators.kinds import settable

        found["operator"] = settable(found["operator"])
    return found


def _of_lines(text: str, name: str) -> Iterator[tuple[str, Json]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            query = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError("not NDJSON, file", name, f"line {number}: {json_fault(error)}") from None
        if not isinstance(query, dict):
            raise InputError("no query in file", name, f'line {number} must be an object with "id" and "where"')
        yield f"line {number}", query


def _of_document(document: object, name: str) -> Iterator[tuple[str, Json]]:
    if isinstance(document, dict):
        listed = document.get("queries")
        if isinstance(listed, list) and document.keys() <= _PAGE_KEYS:
            document = listed
        elif isinstance(document.get("id"), str) and isinstance(document.get("where"), str):
            document = [document]
    if isinstance(document, dict):
        yield from _of_mapping(document, name)
    elif isinstance(document, list):
        for number, query in enumerate(document, 1):
            if not isinstance(query, dict):
                raise InputError("no query in file", name, f'query {number} must be an object with "id" and "where"')
            yield f"query {number}", query
    else:
        raise InputError("no queries in file", name, 'write {"late": "delay > 60"}, or a list of objects')


def _of_mapping(document: Json, name: str) -> Iterator[tuple[str, Json]]:
    for number, (query_id, value) in enumerate(document.items(), 1):
        query = {"where": value} if isinstance(value, str) else value
        if not isinstance(query, dict) or query.get("id", query_id) != query_id:
            remedy = f'{query_id!r} must be a predicate, or an object with "where" and no other id'
            raise InputError("no query in file", name, remedy)
        yield f"query {number}", {"id": query_id, **query}


def _json(text: str, name: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> Json:
        found: Json = {}
        for key, value in pairs:
            if key in found:
                raise InputError("duplicate key", key, f"it occurs twice in an object of {name}: remove one")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise InputError("not JSON, file", name, f"{_reason(error)}; one query a line is .ndjson") from None


def _toml(text: str, name: str) -> Json:
    try:
        return parse_toml(text)
    except ValueError as error:
        raise InputError("not TOML, file", name, _reason(error)) from None


def _is_toml(text: str) -> bool:
    try:
        parse_toml(text)
    except ValueError:
        return False
    return True


def _parsed_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Return None if the text is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_query(value: object) -> bool:
    return isinstance(value, dict) and ("id" in value or "where" in value)


def _reason(error: Exception) -> str:
    return "is nested too deeply" if isinstance(error, RecursionError) else str(error)
