"""``asc publish``: rows of files into the daemon's streams, and what cannot be published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

if TYPE_CHECKING:
    from conftest import Address, Asc


def test_columns_that_file_and_schema_do_not_share_are_told(asc: Asc, tmp_path: Path) -> None:
    pq.write_table(pa.table({"Flight": [1], "delay": [2], "gate": ["A"]}), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("Flight,delay,gate\n1,2,A\n", encoding="utf-8")
    for name in ("rows.parquet", "rows.csv"):
        published = asc("publish", "--stream", "flights", tmp_path / name)
        assert published.stdout == "1 record published to cli-flights\n"
        assert published.stderr.splitlines() == [
            "warning: no predicate can name what the stream's schema lacks: gate",
            "warning: NULL in every record, for the file lacks it: dest",
        ]


def test_parquet_into_a_csv_stream(asc: Asc, tmp_path: Path) -> None:
    assert asc("query", "add", "all-lines", "--where", "flight >= 0", "--stream", "lines").exit_code == 0
    texts = ["plain", 'say "hi", twice', " padded ", "back\\slash", "æøå", "NULL"]
    table = pa.table(
        {
            "dest": pa.array([*texts, None]),
            "flight": pa.array(range(len(texts) + 1), pa.int64()),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    for name, where in {f"text-{i}": f"dest = {json.dumps(text)}" for i, text in enumerate(texts)}.items():
        assert asc("query", "add", name, "--stream", "lines", "--topic", "lines-out", "--where", where).exit_code == 0
    where = "dest IS NULL"
    assert asc("query", "add", "nothing", "--stream", "lines", "--topic", "lines-out", "--where", where).exit_code == 0
    assert asc.json("publish", "--stream", "lines", tmp_path / "rows.parquet")["records"] == len(texts) + 1
    received = asc.received("lines-out", len(texts) + 1)
    assert [record["queries"] for record in received] == [*([f"text-{i}"] for i in range(len(texts))), ["nothing"]]


def test_publishing_what_cannot_be_published_is_one_line(asc: Asc, flights: Path, tmp_path: Path) -> None:
    odd = tmp_path / "rows.xls"
    odd.write_bytes(b"n")
    for arguments, said in (
        (["--stream", "trains", flights], "unknown stream 'trains'"),
        ([flights], "flights, lines"),
        (["--stream", "flights", "--key", "city", flights], "no such column for --key 'city'"),
        (["--stream", "flights", odd], "unknown format of file"),
    ):
        result = asc("publish", *arguments)
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
        assert said in result.stderr


@pytest.mark.usefixtures("impatient")
def test_a_kafka_that_does_not_answer_is_one_line(run: Callable[..., Result], address: Address, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("n\n1\n", encoding="utf-8")
    result = run("publish", rows, "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
    assert result.stderr.startswith("error: Kafka '127.0.0.1:9': does not answer: check the address and that it runs (")


@pytest.mark.usefixtures("impatient")
def test_an_empty_file_is_one_line(run: Callable[..., Result], address: Address, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(b"")
    result = run("publish", rows, "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
