"""The file behind ``--queries``: standing predicates by id."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cli.failure import CommandError
from cli.schema_file import read_text


def read_queries(path: Path) -> dict[str, str]:
    """Predicates by id: NDJSON of ``{"id", "where"}``, or a TOML or JSON mapping of ids to them, by the name's end.

    Errors: CommandError for what cannot be read, an id given twice, a predicate that is no text, no query at all.
    """
    text = read_text(path)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        pairs: Iterable[tuple[Any, Any]] = _toml(text, path).items()
    elif suffix == ".json":
        pairs = _json_pairs(text, path)
    else:
        pairs = _ndjson_pairs(text, path)
    queries: dict[str, str] = {}
    for query_id, where in pairs:
        if not isinstance(query_id, str) or not query_id or not isinstance(where, str):
            raise CommandError("no id and predicate in file", str(path), f"{query_id!r}: {where!r} must be two texts")
        if query_id in queries:
            raise CommandError("duplicate query id", query_id, f"it stands twice in {path}: remove one")
        queries[query_id] = where
    if not queries:
        raise CommandError("no queries in file", str(path), 'write one a line: {"id": "late", "where": "delay > 60"}')
    return queries


def _ndjson_pairs(text: str, path: Path) -> Iterable[tuple[Any, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            query = json.loads(line)
        except json.JSONDecodeError as error:
            raise CommandError("not NDJSON, file", str(path), f"line {number}: {error}") from None
        if not isinstance(query, dict) or not {"id", "where"} <= query.keys():
            remedy = f'line {number} must be an object with "id" and "where"'
            raise CommandError("no query in file", str(path), remedy)
        yield query["id"], query["where"]


def _json_pairs(text: str, path: Path) -> Iterable[tuple[Any, Any]]:
    try:
        pairs: list[tuple[str, Any]] | Any = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        raise CommandError("not JSON, file", str(path), f"{error}; one query a line is .ndjson") from None
    if not text.lstrip().startswith("{"):
        raise CommandError(
            "no mapping in file", str(path), 'write {"late": "delay > 60"}, or one query a line as .ndjson'
        )
    return pairs


def _toml(text: str, path: Path) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CommandError("not TOML, file", str(path), str(error)) from None
    return table
