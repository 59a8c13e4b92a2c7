"""Files of DBSCAN queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from asc.errors import AscError
from asc.schema import Schema
from broker.files.decoding import Decoding
from broker.operators.dbscan.definition import StandingDbscan
from broker.operators.dbscan.kind import DBSCAN
from broker.operators.schema_analyser import SchemaAnalyser
from cli.operators.dbscan.file_queries import read_file_queries, warnings_of

DECODING = Decoding(Schema.from_ddl("x DOUBLE, y DOUBLE, n INT, ts TIMESTAMP, raw BINARY"))
OPERATOR: dict[str, Any] = {"name": "dbscan", "attributes": ["x", "y"], "eps": 0.5, "min_samples": 5}
OPERATOR |= {"window_points": 100, "slide_points": 50}


def write(folder: Path, *bodies: object) -> Path:
    path = folder / "queries.ndjson"
    path.write_text("\n".join(map(json.dumps, bodies)), "utf-8")
    return path


def test_queries_have_their_predicates_and_expressions(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"id": "one", "where": "n > 3", "operator": {**OPERATOR, "time": "ts"}},
        {"id": "dense", "stream": "any", "topic": "asc.dense", "operator": {**OPERATOR, "min_samples": [5, 6]}},
    )
    found = read_file_queries(path, DECODING)
    assert [query.id for query in found] == ["one", "dense.1", "dense.2"]
    assert [query.definition.min_samples for query in found] == [5, 5, 6]
    assert [query.where.match_all for query in found] == [False, True, True]
    assert found[0].expressions.time is not None
    assert found[1].expressions.time is None
    assert found[1].where is found[2].where


def test_warnings_are_told_once(tmp_path: Path) -> None:
    tumbling = {**OPERATOR, "slide_points": 100}
    found = read_file_queries(write(tmp_path, {"id": "one", "operator": tumbling}), DECODING)
    assert warnings_of(found) == ["one: slide = window: consecutive windows share no point, so no id lasts"]


@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ([], "no queries in file"),
        ([{"id": "one", "where": "true"}], "no DBSCAN query in file"),
        ([{"id": "one", "operator": {"name": "near"}}], "no DBSCAN query in file"),
        ([{"operator": OPERATOR}], "no DBSCAN query in file"),
        ([{"id": "a b", "operator": OPERATOR}], "query id 'a b'"),
        ([{"id": "../a", "operator": OPERATOR}], "query id '../a'"),
        ([{"id": "one", "operator": OPERATOR}] * 2, "duplicate query id 'one'"),
        ([{"id": "one", "operator": OPERATOR, "join": {"layer": "l"}}], "join in a file of DBSCAN queries"),
        ([{"id": "one", "operator": OPERATOR, "where": 5}], "where of query 'one'"),
        ([{"id": "one", "operator": OPERATOR, "where": "z > 3"}], "unknown column 'z'"),
        ([{"id": "one", "operator": {**OPERATOR, "eps": 0}}], "query 'one': line 1 of queries.ndjson: operator.eps 0"),
        ([{"id": "one", "operator": {**OPERATOR, "attributes": ["ts"]}}], "no number"),
    ],
)
def test_what_is_no_query_is_refused(tmp_path: Path, bodies: list[object], said: str) -> None:
    with pytest.raises(AscError) as refused:
        read_file_queries(write(tmp_path, *bodies), DECODING)
    assert said in str(refused.value)


def test_a_key_of_bytes_is_refused_as_the_daemon_refuses_it(tmp_path: Path) -> None:
    operator = {**OPERATOR, "time": "ts", "key": "raw"}
    with pytest.raises(AscError) as refused:
        read_file_queries(write(tmp_path, {"id": "one", "operator": operator}), DECODING)
    with pytest.raises(AscError) as by_daemon:
        DBSCAN.read(StandingDbscan.parse(operator), SchemaAnalyser(DECODING.schema))
    assert str(refused.value) == f"query 'one': line 1 of queries.ndjson: {by_daemon.value}"
    assert "operator.key 'raw': is BINARY" in str(refused.value)
