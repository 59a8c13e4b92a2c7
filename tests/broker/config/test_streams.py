"""The streams of the configuration: schemas from where they come, and what does not go with a format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from broker.config.config import parse_config
from broker.config.streams import StreamConfig, check_stream_name
from broker.errors import ConfigError
from broker.formats.registry import RECORD_FORMATS

NESTED = "dep_delay INT NOT NULL, place STRUCT<city: STRING NOT NULL>"


def stream(record_format: str = "json", schema: str | None = "dep_delay INT", **more: Any) -> StreamConfig:
    described = {"topic": "flights", "format": record_format, "schema": schema, **more}
    return parse_config({"streams": {"flights": described}}).streams["flights"]


def refusal(described: StreamConfig) -> str:
    (fault,) = described.faults("streams.flights")
    assert "\n" not in str(fault)
    return str(fault)


def test_a_record_may_lack_any_field() -> None:
    fields = stream(schema=NESTED).fields().arrow
    assert fields.field("dep_delay").nullable
    assert fields.field("place").type == pa.struct([pa.field("city", pa.string(), nullable=True)])


def test_options_are_text_and_the_format_is_the_one_of_its_name() -> None:
    found = stream("csv", options={"sep": ";", "maxColumns": 10, "ignoreLeadingWhiteSpace": True})
    assert found.options == {"sep": ";", "maxColumns": "10", "ignoreLeadingWhiteSpace": "true"}
    assert found.record_format is RECORD_FORMATS["csv"]
    assert list(found.faults("streams.flights")) == []


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format", "xml", "streams.flights.format 'xml': use one of json, csv"),
        ("topic", "a b", "streams.flights.topic 'a b': use 1 to 249 of"),
        ("starting_offsets", "now", "streams.flights.starting_offsets 'now': give 'earliest' or 'latest'"),
    ],
)
def test_a_value_that_cannot_be_is_named(key: str, value: str, said: str) -> None:
    described = {"topic": "flights", "format": "json", "schema": "n INT", key: value}
    with pytest.raises(ConfigError) as caught:
        parse_config({"streams": {"flights": described}})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({"schema": "dep_delay INTT"}, "streams.flights.schema: unknown type 'INTT'"),
        ({"schema": "_KEY INT"}, "field '_KEY': the name is the record's own attribute"),
        ({"schema": "__ASC_x INT"}, "field '__ASC_x': the broker uses such names itself"),
        ({"schema": "__asc_deliveries INT"}, "field '__asc_deliveries': the broker uses such names"),
        ({"record_format": "csv", "schema": NESTED}, "field 'place': CSV holds no nested values"),
        ({"options": {"timestampFormt": "x"}}, "did you mean 'timestampFormat'"),
        (
            {"record_format": "csv", "options": {"maxColumns": 2_000_000}},
            "streams.flights.options.maxColumns '2000000': use 1 to 1000000",
        ),
        (
            {"record_format": "csv", "options": {"sep": ""}},
            "streams.flights.options.sep '': give the separator at least one character",
        ),
        ({"schema": None}, "exactly one of schema (Spark DDL) and schema_file"),
        ({"schema_file": "x"}, "exactly one of schema (Spark DDL) and schema_file"),
        ({"schema": None, "schema_file": "none.ddl"}, "schema file 'none.ddl': cannot be read: No such file"),
    ],
)
def test_what_does_not_go_with_the_format_is_one_line(described: dict[str, Any], said: str) -> None:
    assert said in refusal(stream(**described))


def test_a_schema_file_is_of_ddl_or_of_spark_s_json(tmp_path: Path) -> None:
    (tmp_path / "schema.ddl").write_text("n INT,\n  s STRING\n", "utf-8")
    (tmp_path / "schema.json").write_text(
        '\n {"type": "struct", "fields": [{"name": "n", "type": "integer", "nullable": false, "metadata": {}},'
        '{"name": "s", "type": "string", "nullable": true, "metadata": {}}]}',
        "utf-8",
    )
    (tmp_path / "broken.json").write_text('{"type": "struct"', "utf-8")
    ddl, json = (stream(schema=None, schema_file=tmp_path / name).fields() for name in ("schema.ddl", "schema.json"))
    assert ddl == json == stream(schema="n INT, s STRING").fields()
    said = refusal(stream(schema=None, schema_file=tmp_path / "broken.json"))
    assert said.startswith(f"streams.flights.schema_file '{tmp_path}/broken.json': schema JSON ")
    (tmp_path / "empty.ddl").write_text(" \n", "utf-8")
    said = refusal(stream(schema=None, schema_file=tmp_path / "empty.ddl"))
    assert said.startswith(f"streams.flights.schema_file '{tmp_path}/empty.ddl': is empty: write the fields")


def test_a_schema_file_is_read_at_each_call(tmp_path: Path) -> None:
    file = tmp_path / "schema.ddl"
    file.write_text("n INT", "utf-8")
    described = stream(schema=None, schema_file=file)
    assert described.fields().arrow.names == ["n"]
    file.write_text("m INT", "utf-8")
    assert described.fields().arrow.names == ["m"]


@pytest.mark.parametrize("name", ["a", "9", "A-b_c.d", "x" * 100])
def test_a_stream_may_be_called_what_folders_and_topics_can(name: str) -> None:
    check_stream_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "-a", "_a", "a b", "a/b", "é", "x" * 101, "a\n"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"use 1 to 100 of A-Z a-z 0-9 \. _ -, a letter or digit first"):
        check_stream_name(name)
