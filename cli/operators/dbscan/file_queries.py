"""The DBSCAN queries in a file of queries, checked against a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asc.errors import AscError
from broker.files.decoding import Decoding
from cli.failure import CommandError

if TYPE_CHECKING:
    from asc.operators.dbscan.definition import DbscanDefinition
    from asc.operators.dbscan.expressions import DbscanExpressions
    from asc.predicate import Predicate

_REMEDY = (
    'write one a line: {"id": "crowds", "where": "true", "operator": {"name": "dbscan", "attributes": ["x", "y"], ...}}'
)


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A DBSCAN query from a file, with its expressions over the rows."""

    id: str
    where: Predicate
    definition: DbscanDefinition
    expressions: DbscanExpressions


def read_file_queries(path: Path, decoding: Decoding) -> list[FileQuery]:
    """Return the DBSCAN queries of a file. The file may have each form of a file of queries: TOML, JSON or NDJSON. If
    eps or min_samples is a list, each combination of values defines a query. Raise AscError if a query is refused, or
    an id occurs twice.
    """
    from asc.operators.dbscan.definition import combinations
    from asc.query_id import checked_id
    from broker.files.bounded_file import read_whole
    from broker.files.queries_file import bodies, form_of
    from broker.whole_file import QUERIES_BYTES_MAX

    content = read_whole(path, QUERIES_BYTES_MAX)
    queries: dict[str, FileQuery] = {}
    predicates: dict[str, Predicate] = {}
    for place, body in bodies(content, form_of(path.name, content), path.name):
        operator = body.get("operator")
        if not isinstance(body.get("id"), str) or not isinstance(operator, dict) or operator.get("name") != "dbscan":
            raise CommandError("no DBSCAN query in file", str(path), f"{place}: {_REMEDY}")
        if body.get("join") is not None:
            raise CommandError("join in a file of DBSCAN queries", body["id"], "a DBSCAN query has none: leave it out")
        for query_id, plain in combinations(body["id"], operator):
            if checked_id(query_id, CommandError) in queries:
                raise CommandError("duplicate query id", query_id, f"it occurs twice in {path}: remove one")
            try:
                queries[query_id] = _query(query_id, body, plain, decoding, predicates)
            except CommandError:
                raise
            except AscError as error:
                raise CommandError("query", query_id, f"{place} of {path.name}: {error}") from None
    if not queries:
        raise CommandError("no queries in file", str(path), _REMEDY)
    return list(queries.values())


def _query(
    query_id: str,
    body: Mapping[str, Any],
    plain: Mapping[str, Any],
    decoding: Decoding,
    predicates: dict[str, Predicate],
) -> FileQuery:
    from asc.operators.dbscan.definition import DbscanDefinition
    from asc.operators.dbscan.expressions import DbscanExpressions
    from asc.predicate import normalise

    where = body.get("where", "true")
    if not isinstance(where, str):
        raise CommandError("where of query", query_id, "give a predicate as text, as 'altitude > 3000'")
    definition = DbscanDefinition.parse(plain, needs_time=False)
    expressions = DbscanExpressions.of(definition, decoding.schema, decoding.time_zone)
    if where not in predicates:
        predicates[where] = normalise(where, decoding.schema, time_zone=decoding.time_zone)
    return FileQuery(query_id, predicates[where], definition, expressions)


def warnings_of(queries: Sequence[FileQuery]) -> list[str]:
    """Return the distinct warnings about suspicious settings of the queries."""
    found: dict[str, None] = {}
    for query in queries:
        found.update(dict.fromkeys(query.where.warnings))
        found.update(dict.fromkeys(f"{query.id}: {warning}" for warning in query.expressions.warnings))
    return list(found)
