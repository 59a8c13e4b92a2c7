"""Streams of Protobuf: what their configuration lacks, and the whole way of their records to queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.config.config import load_config
from broker.errors import ConfigError

OWN = 'syntax = "proto3"; package f; message First { int32 a = 1; } message Flight { string dest = 1; }'


def test_a_stream_says_what_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "asc.toml"
    stream = '[streams.s]\ntopic = "t"\nformat = "protobuf"\n'
    for more, said in (
        ('schema = "a INT"', r"streams.s.format 'protobuf': asks a schema registry: set schema_registry.url"),
        ('schema = "a INT"\noptions.framing = "none"', "needs the schema that all records were written with"),
        ('schema = "a INT"\noptions.message = "f.Flight"', "names a message"),
        ('schema = "a INT"\noptions.message = "f Flight"', "is no message's full name"),
        ('schema = "a INT"\noptions.framing = "grpc"', "use confluent or none"),
        ('schema_file = "f.proto"\noptions.message = "f.Train"', "Protobuf message 'f.Train': is not in the schema"),
    ):
        (tmp_path / "f.proto").write_text(OWN)
        file.write_text(f"{stream}{more}\n")
        with pytest.raises(ConfigError, match=said):
            load_config(file)


def test_a_schema_file_is_the_columns(tmp_path: Path) -> None:
    file = tmp_path / "asc.toml"
    (tmp_path / "f.proto").write_text(OWN)
    stream = '[streams.s]\ntopic = "t"\nformat = "protobuf"\nschema_file = "f.proto"\noptions.framing = "none"\n'
    file.write_text(stream)
    assert load_config(file).streams["s"].fields().ddl() == "a INT"
    file.write_text(f'{stream}options.message = "f.Flight"\n')
    assert load_config(file).streams["s"].fields().ddl() == "dest STRING"


def test_a_column_called_message_is_a_column(tmp_path: Path) -> None:
    file = tmp_path / "asc.toml"
    file.write_text(
        '[schema_registry]\nurl = "http://localhost:1"\n[streams.s]\ntopic = "t"\nformat = "protobuf"\n'
        'schema = "message STRUCT<syntax: STRING>, syntax STRING"\n'
    )
    assert load_config(file).streams["s"].fields().ddl() == "message STRUCT<syntax: STRING>, syntax STRING"
