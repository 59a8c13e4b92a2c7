"""``asc publish``: rows of files into the daemon's streams, and what cannot be published."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
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


def test_times_arrive_by_the_streams_pattern(asc: Asc, tmp_path: Path) -> None:
    """Into a stream with a timestampFormat and a zone: none of them is a dead letter."""
    where = "at = TIMESTAMP '2013-01-31 09:00:05Z'"
    added = asc("query", "add", "timed", "--stream", "times", "--topic", "times-out", "--where", where)
    assert added.exit_code == 0, added.stderr
    times = pa.array([datetime(2013, 1, 31, 9, 0, 5, tzinfo=timezone.utc)] * 3, pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"at": times}), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("at\n2013-01-31T09:00:05Z\n31/01/2013 10:00:05\n", encoding="utf-8")
    for name in ("rows.parquet", "rows.csv"):
        assert asc("publish", "--stream", "times", tmp_path / name).exit_code == 0
    assert [record["value"] for record in asc.received("times-out", 5)] == ['{"at":"31/01/2013 10:00:05"}'] * 5


def test_a_file_that_shares_no_column_is_refused_without_force(asc: Asc, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("city,gate\nOslo,A\n", encoding="utf-8")
    (tmp_path / "other.ndjson").write_text('{"Flight": 1}\n', encoding="utf-8")
    for name in ("other.csv", "other.ndjson"):
        result = asc("publish", "--stream", "flights", tmp_path / name)
        assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1), result.stderr
        assert "the stream's flight, delay, dest; --force publishes it" in result.stderr
        forced = asc("publish", "--stream", "flights", "--force", tmp_path / name)
        assert (forced.exit_code, forced.stdout) == (0, "1 record published to cli-flights\n")


def test_standard_input(asc: Asc) -> None:
    lines = '{"flight": 70, "delay": 1}\n\n{"flight": 71}\n'
    assert asc("publish", "--stream", "flights", "-", stdin=lines).stdout == "2 records published to cli-flights\n"
    csv = asc("publish", "--stream", "flights", "--format", "csv", "-", stdin="flight,delay,dest\n72,5,SFO\n")
    assert (csv.exit_code, csv.stdout) == (0, "1 record published to cli-flights\n"), csv.stderr
    refused = asc("publish", "--stream", "flights", "--format", "parquet", "-", stdin="PAR1")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_line_of_a_pipe_is_sent_as_it_comes_and_a_signal_ends_it(asc: Asc, signum: signal.Signals) -> None:
    where, topic = "flight = 4711", f"piped-{signum.name}"
    assert asc("query", "add", topic, "--stream", "flights", "--topic", topic, "--where", where).exit_code == 0
    code = "from cli.main import main; main(prog_name='asc')"
    publishing = subprocess.Popen(
        [sys.executable, "-c", code, "publish", "--stream", "flights", "--server", asc.server, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with publishing:
        assert publishing.stdin is not None
        publishing.stdin.write(b'{"flight": 4711}\n')
        publishing.stdin.flush()
        assert len(asc.received(topic, 1)) == 1  # while the pipe is open
        publishing.send_signal(signum)
        stdout, stderr = publishing.communicate(timeout=60)
    assert (publishing.returncode, stdout, stderr) == (0, b"1 record published to cli-flights\n", b"")


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


def test_what_is_wrong_with_a_file_comes_after_the_rows_before_it_and_says_how_to_go_on(
    asc: Asc, tmp_path: Path
) -> None:
    where = "flight BETWEEN 8100 AND 8199"
    assert asc("query", "add", "skips", "--stream", "flights", "--topic", "skips", "--where", where).exit_code == 0
    rows = tmp_path / "rows.csv"
    rows.write_text("flight,delay,dest\n8100,1,A\n8101,2,B\n8102,3\n8103,4,D\n", encoding="utf-8")
    broken = asc("publish", "--stream", "flights", rows)
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert broken.stderr == (
        f"error: uneven row in file '{rows}': line 4 has 2 fields, the header 3; mend or remove it; "
        "'--skip 2' goes on behind the first 2\n"
    )
    rows.write_text("flight,delay,dest\n8100,1,A\n8101,2,B\n8102,3,C\n8103,4,D\n", encoding="utf-8")
    assert asc("publish", "--stream", "flights", "--skip", 2, rows).stdout == "2 records published to cli-flights\n"
    for skipped, code, said in ((4, 0, ""), (9, 1, f"error: --skip '9': is more than {rows} has, which is 4 records")):
        nothing = asc("publish", "--stream", "flights", "--skip", skipped, rows)
        assert (nothing.exit_code, nothing.stderr.startswith(said)) == (code, True), nothing.stderr
    found = [json.loads(record["value"])["flight"] for record in asc.received("skips", 4)]
    assert found == [8100, 8101, 8102, 8103]


def test_lines_that_are_no_json_are_told_by_their_number(asc: Asc, tmp_path: Path) -> None:
    rows = tmp_path / "rows.ndjson"
    rows.write_text('{"flight": 8200}\n\n{"flight": 8201\n[8202]\n', encoding="utf-8")
    for key in ([], ["--key", "flight"]):
        published = asc("publish", "--stream", "flights", *key, rows)
        assert published.stdout == "3 records published to cli-flights\n"
        assert published.stderr.splitlines() == [
            "warning: line 3 is no JSON object: such lines end up in flights.dead-letter",
            "warning: 2 lines are no JSON objects, the first of them line 3",
        ]
    into_csv = asc("publish", "--stream", "lines", "--json", rows)
    assert json.loads(into_csv.stdout) | {"stream": "", "topic": ""} == {
        **{"stream": "", "topic": "", "records": 1},
        **{"malformed": 2, "first_malformed": 3},
    }
    assert "such lines are not sent into a stream of format csv" in into_csv.stderr
    rows.write_bytes(b"\n" + bytes(range(256)))
    refused = asc("publish", "--stream", "flights", rows)
    assert (refused.exit_code, refused.stdout) == (1, "")
    said = "line 2 is none: name its --format; --force publishes it nevertheless"
    assert refused.stderr == f"error: no JSON object in file '{rows}': {said}\n"
    assert asc("publish", "--stream", "flights", "--force", rows).exit_code == 0


def test_a_json_array_is_refused(asc: Asc, tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    rows.write_text('[\n{"flight": 8200},\n{"flight": 8201}\n]\n', encoding="utf-8")
    refused = asc("publish", "--stream", "flights", rows)
    assert (refused.exit_code, refused.stdout) == (1, "")
    said = f"jq -c '.[]' {rows} writes a line for each of its objects"
    assert refused.stderr == f"error: a JSON array, not NDJSON, in file '{rows}': {said}\n"
    refused = asc("publish", "--stream", "flights", "-", stdin=rows.read_text(encoding="utf-8"))
    said = "put jq -c '.[]' before it, which writes a line for each of its objects"
    assert refused.stderr == f"error: a JSON array, not NDJSON, in 'standard input': {said}\n"


@pytest.mark.usefixtures("impatient")
def test_a_kafka_that_does_not_answer_is_one_line(run: Callable[..., Result], address: Address, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("n\n1\n", encoding="utf-8")
    result = run("publish", rows, "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
    assert result.stderr.startswith("error: Kafka '127.0.0.1:9': does not answer: check the address and that it runs (")


def test_a_silent_kafka_is_said_while_it_is_waited_for(
    run: Callable[..., Result], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.client.KAFKA_ANSWERS_WITHIN_S", 1.5)
    monkeypatch.setattr("broker.kafka.slow_response.SAID_AFTER_S", 0.2)
    rows = tmp_path / "rows.csv"
    rows.write_text("n\n1\n", encoding="utf-8")
    result = run("publish", rows, "--server", address.url)
    silent, error = result.stderr.splitlines()
    assert silent == "Kafka 127.0.0.1:9 does not answer yet, still trying"
    assert error.startswith("error: Kafka '127.0.0.1:9': does not answer: ")


@pytest.mark.usefixtures("impatient")
def test_an_empty_file_is_one_line(run: Callable[..., Result], address: Address, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(b"")
    result = run("publish", rows, "--server", address.url)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr
