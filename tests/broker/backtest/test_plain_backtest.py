"""Standing queries over files without Spark: the same counts as by Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asc.predicate import Limits
from asc.schema import Schema
from broker.backtest.plain_backtest import match_plainly, why_spark
from broker.files.decoding import Decoding
from broker.matching.named_queries import normalised_queries

FLIGHTS = Path(__file__).parents[3] / "workloads" / "data" / "flights.csv.gz"
DECODING = Decoding(Schema.from_ddl("carrier STRING, dest STRING, arr_delay INT, time_hour TIMESTAMP, gate STRING"))
QUERIES = {
    "late": "arr_delay > 60 AND dest IN ('LAX', 'SFO')",
    "unknown": "arr_delay IS NULL",
    "summer": "time_hour >= TIMESTAMP '2013-06-01 00:00:00' AND carrier < 'B'",
    "gate": "gate = 'A'",
    "all": "TRUE",
}


@pytest.mark.spark
def test_counts_are_those_of_spark() -> None:
    from broker.backtest.spark_backtest import match_by_spark

    plain = match_plainly([FLIGHTS, FLIGHTS], "csv", DECODING, QUERIES)
    assert plain == match_by_spark([FLIGHTS, FLIGHTS], "csv", DECODING, QUERIES, None)
    assert (plain.rows, plain.by_query["all"], plain.by_query["gate"]) == (40_000, 40_000, 0)
    assert 0 < plain.by_query["late"] < plain.by_query["summer"] < 40_000


def test_many_pairs_are_found_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.backtest.plain_backtest._PAIRS_MAX", 10)
    path = tmp_path / "rows.ndjson"
    path.write_text("\n".join(json.dumps({"arr_delay": n}) for n in range(50)), encoding="utf-8")
    found = match_plainly([path], "ndjson", DECODING, {"all": "TRUE", "late": "arr_delay >= 40", "dest": "dest = 'x'"})
    assert (found.rows, found.accepted, found.by_query) == (50, 50, {"all": 50, "late": 10, "dest": 0})


def test_why_spark_is_needed() -> None:
    def why(where: str) -> str | None:
        queries = normalised_queries({"a": "arr_delay > 1", "b": where}, DECODING.schema, Limits(), "UTC")
        return why_spark(list(queries))

    assert why("dest = 'LAX'") is None
    assert why("upper(dest) = 'LAX'") == "query 'b' has Spark compute upper(dest)"
