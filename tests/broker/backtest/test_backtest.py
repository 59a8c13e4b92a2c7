"""Which engine matches files, and what is found wrong before either starts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from asc.schema import Schema
from broker.backtest.backtest import run_backtest
from broker.errors import InputError
from broker.files.decoding import Decoding

SCHEMA = Schema.from_ddl("delay INT, dest STRING")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("delay,dest\n75,SFO\n5,LAX\n", encoding="utf-8")
    return path


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(**_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("broker.runtime.spark.spark_session", start)


@pytest.mark.usefixtures("without_spark")
def test_plain_predicates_over_plain_rows_need_no_spark(rows: Path) -> None:
    backtest = run_backtest([rows, rows], "csv", Decoding(SCHEMA), {"late": "delay > 60", "none": "delay < 0"}, None)
    assert (backtest.engine, backtest.result.rows, backtest.result.accepted) == ("arrow", 4, 2)
    assert backtest.result.by_query == {"late": 2, "none": 0}


@pytest.mark.usefixtures("without_spark")
def test_a_column_that_no_predicate_names_starts_no_spark(tmp_path: Path) -> None:
    row = {"delay": 75, "price": 12.5, "fee": "0.05", "f": 0.1, "tags": ["a"]}
    (tmp_path / "rows.ndjson").write_text(json.dumps(row), encoding="utf-8")
    schema = Schema.from_ddl("delay INT, price DECIMAL(9,2), fee DECIMAL(2,2), f FLOAT, tags ARRAY<STRING>")
    backtest = run_backtest([tmp_path / "rows.ndjson"], "ndjson", Decoding(schema), {"late": "delay > 60"}, None)
    assert (backtest.engine, backtest.result.by_query) == ("arrow", {"late": 1})
    backtest = run_backtest([tmp_path / "rows.ndjson"], "ndjson", Decoding(schema), {"cheap": "price < 12.51"}, None)
    assert (backtest.engine, backtest.result.by_query) == ("arrow", {"cheap": 1})


@pytest.mark.usefixtures("without_spark")
def test_what_is_wrong_is_said_before_spark_starts(rows: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    for inputs, where, output, said in (
        ([rows], "dely > 60", None, "did you mean 'delay'"),
        ([rows], "upper(dest) = ", None, "late"),
        ([rows, tmp_path / "other.csv"], "upper(dest) = 'SFO'", None, "no column of the schema"),
        ([rows], "delay > 60", tmp_path, "exists already"),
    ):
        with pytest.raises(Exception, match=said) as caught:
            run_backtest(inputs, "csv", Decoding(SCHEMA), {"late": where}, output)
        assert not isinstance(caught.value, AssertionError)


def test_why_spark_starts_is_said(
    rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class StartedError(Exception):
        pass

    def start(**_: object) -> None:
        raise StartedError

    monkeypatch.setattr("broker.runtime.spark.spark_session", start)
    odd = tmp_path / "odd.csv"
    odd.write_text("delay,dest\nNA,SFO\n", encoding="utf-8")
    for path, where, output, said in (
        (rows, "upper(dest) = 'SFO'", None, "query 'q' has Spark compute"),
        (odd, "delay > 60", None, "column delay holds 'NA'"),
        (rows, "delay > 60", tmp_path / "new", "to write rows"),
    ):
        with pytest.raises(StartedError):
            run_backtest([path], "csv", Decoding(SCHEMA), {"q": where}, output)
        assert said in capsys.readouterr().err
    with pytest.raises(StartedError):
        run_backtest([rows], "csv", Decoding(SCHEMA), {"q": "delay > 60"}, None, by_spark=True)


@pytest.mark.usefixtures("without_spark")
def test_the_command_says_that_it_was_without_spark(run: Callable[..., Result], rows: Path, tmp_path: Path) -> None:
    (tmp_path / "queries.json").write_text('{"late": "delay > 60"}', encoding="utf-8")
    (tmp_path / "rows.ddl").write_text(SCHEMA.ddl(), encoding="utf-8")
    arguments = ["match", "--queries", tmp_path / "queries.json", "--schema", tmp_path / "rows.ddl", rows]
    result = run(*arguments)
    assert result.stdout.splitlines()[-1] == "2 rows read, 1 accepted (without Spark)"
    assert json.loads(run(*arguments, "--json").stdout)["engine"] == "arrow"


def test_an_output_that_is_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists already"):
        run_backtest([], "csv", Decoding(SCHEMA), {}, tmp_path)


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize("by_spark", [False, True])
def test_a_line_that_is_too_long_is_told_whichever_engine_would_read_it(
    by_spark: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.files.input_files.LINE_BYTES_MAX", 1 << 20)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"delay,dest\n" + b"1" * (2 << 20), 1))
    with pytest.raises(InputError, match=r"^file of rows '[^\n]*': has more than 1,048,576 bytes in one line"):
        run_backtest([path], "csv", Decoding(SCHEMA), {"late": "delay > 60"}, None, by_spark=by_spark)
