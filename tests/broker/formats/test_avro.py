"""Streams of Avro: their configuration, and a daemon that reads them, and Protobuf beside them, while schemas and the
registry come and go.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format, message_factory

from broker.config.config import Config, load_config, parse_config
from broker.errors import ConfigError
from broker.formats.protobuf_reading import messages_of
from broker.formats.protobuf_schema import ProtobufSchema
from tests.broker.formats.test_avro_decoder import body, framed, record

if TYPE_CHECKING:
    from broker.kafka.embedded import EmbeddedKafka
    from tests.broker.conftest import Site
    from tests.broker.formats.conftest import RegistryServer


def test_a_stream_says_what_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "asc.toml"
    stream = '[streams.s]\ntopic = "t"\nformat = "avro"\nschema = "a INT"\n'
    file.write_text(stream)
    with pytest.raises(ConfigError, match=r"streams.s.format 'avro': asks a schema registry: set schema_registry.url"):
        load_config(file)
    file.write_text(stream + '[streams.s.options]\nframing = "none"\n')
    with pytest.raises(ConfigError, match="needs the schema that all records were written with"):
        load_config(file)
    (tmp_path / "own.avsc").write_text(json.dumps(record(("a", "int"))))
    file.write_text('[streams.s]\ntopic = "t"\nformat = "avro"\nschema_file = "own.avsc"\noptions.framing = "none"\n')
    assert load_config(file).streams["s"].fields().ddl() == "a INT"
    file.write_text('[schema_registry]\nurl = "http://localhost:1"\n' + stream.replace("a INT", "a MAP<INT, INT>"))
    with pytest.raises(ConfigError, match="the keys of Avro's maps are strings"):
        load_config(file)


def message(text: str, name: str, row: dict[str, Any]) -> bytes:
    """A row as a message of a schema; what is NULL in it is left out."""
    found = message_factory.GetMessageClass(messages_of(ProtobufSchema.of_text(text).descriptors).named(name))()
    json_format.ParseDict({key: value for key, value in row.items() if value is not None and key != "more"}, found)
    if "more" in row:
        found.more = row["more"]
    return bytes(found.SerializeToString())


def config_of(
    kafka: EmbeddedKafka, folder: Path, url: str, schema: str, kinds: Sequence[str] = ("avro", "json")
) -> Config:
    own = uuid.uuid4().hex[:12]
    stream = {"schema": schema}
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "schema_registry": {"url": url, "timeout_s": 1},
            "streams": {f"{kind}-{own}": {**stream, "topic": f"source-{kind}-{own}", "format": kind} for kind in kinds},
        }
    )


def until(said: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := said()):
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.1)
    return found


WHERES = {
    "late": "delay > 60",
    "far": "distance >= 1000.5 OR distance IS NULL",
    "to": "dest IN ('LAX', 'SFO') AND NOT (delay <=> 5)",
    "place": "place.city LIKE 'B%'",
    "odd": "delay % 2 = 1",
}
FIRST = record(
    ("delay", ["null", "int"]),
    ("dest", "string"),
    ("distance", ["null", "double"]),
    ("place", ["null", record(("zip", "int"), ("city", "string"), name="Place")]),
)
SECOND = record(("dest", ["null", "string"]), ("more", "bytes"), ("delay", "long"))
FIRST_MESSAGE = """
syntax = "proto3";
message Place { int32 zip = 1; string city = 2; }
message First { optional int32 delay = 1; string dest = 2; optional double distance = 3; Place place = 4; }
"""
SECOND_MESSAGE = 'syntax = "proto3"; message Second { optional string dest = 1; bytes more = 2; int64 delay = 3; }'


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.kafka
def test_what_is_written_in_avro_or_protobuf_arrives_where_the_same_in_json_does(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, registry_server: RegistryServer, tmp_path: Path
) -> None:
    schema = "delay INT, dest STRING, distance DOUBLE, place STRUCT<city: STRING>"
    kinds = ("avro", "protobuf", "json")
    site = site_of(config_of(kafka, tmp_path, registry_server.url, schema, kinds))
    assert site.daemon is not None
    for query_id, where in WHERES.items():
        for kind in kinds:
            site.register(f"{kind}-{query_id}", where, stream=kind)
    rows = [
        {
            "delay": None if n % 7 == 0 else n % 120,
            "dest": ("LAX", "JFK", "SFO")[n % 3],
            "distance": None if n % 11 == 0 else n * 12.5,
            "place": None if n % 5 == 0 else {"zip": n, "city": ("Berlin", "Oslo")[n % 2]},
        }
        for n in range(200)
    ]
    others = [{"dest": None if n % 2 else "LAX", "delay": n * 3, "more": b"\xff"} for n in range(50)]
    first = registry_server.register(FIRST)
    values: list[bytes | None] = [framed(first, body(FIRST, row)) for row in rows]
    texts: list[bytes | None] = [json.dumps(row).encode() for row in rows]
    site.publish(values, "avro")
    messages = [registry_server.register(text, schemaType="PROTOBUF") for text in (FIRST_MESSAGE, SECOND_MESSAGE)]
    site.publish([framed(messages[0], b"\2\2" + message(FIRST_MESSAGE, "First", row)) for row in rows], "protobuf")
    # The second schema comes while the first is known, beside a record that names one that is nowhere.
    second = registry_server.register(SECOND)
    values = [*(framed(second, body(SECOND, row)) for row in others), framed(4711, b"x")]
    texts += [json.dumps({key: row[key] for key in ("dest", "delay")}).encode() for row in others]
    site.publish(values, "avro")
    site.publish([framed(messages[1], b"\0" + message(SECOND_MESSAGE, "Second", row)) for row in others], "protobuf")
    site.publish(texts, "json")
    site.drain("json")
    site.drain("protobuf")
    site.drain("avro")
    for query_id in WHERES:
        found = {kind: [r.offset for r in site.read(site.topic(f"{kind}-{query_id}"))] for kind in kinds}
        assert found["avro"] == found["protobuf"] == found["json"] != []
    letters = site.read(site.config.dead_letter_topic(site.stream("avro")))
    reasons = {value.decode() for letter in letters for key, value in letter.headers if key == "asc-error" and value}
    assert reasons == {
        "value names a schema that the registry does not have",
        "value does not begin with the zero byte before a schema's id",
    }
    for kind in kinds:
        trace_and_trial_say_the_same(site, kind, places=(0, 67, 203))
    answer = site.client.post("/v1/trace", json={"source": source_of(site, "avro", 250)}).json()
    assert answer["dead_letter"]["reason"] == "value names a schema that the registry does not have"


def source_of(site: Site, kind: str, offset: int) -> str:
    return f"{site.config.streams[site.stream(kind)].topic}-0-{offset}"


def trace_and_trial_say_the_same(site: Site, kind: str, places: Sequence[int]) -> None:
    """A trace decodes a record, and a trial the last ones, as the job that delivered them did."""
    for query_id in ("late", "place"):
        delivered = {record.offset for record in site.read(site.topic(f"{kind}-{query_id}"))}
        for place in places:
            asked = {"source": source_of(site, kind, place), "query": f"{kind}-{query_id}"}
            answer = site.client.post("/v1/trace", json=asked)
            assert answer.status_code == 200, answer.text
            assert answer.json()["dead_letter"] is None
            assert answer.json()["verdict"]["accepted"] == (place in delivered), (asked, answer.json()["verdict"])
        tried = site.client.post("/v1/test", json={"stream": site.stream(kind), "where": WHERES[query_id]})
        assert tried.status_code == 200, tried.text
        found = tried.json()
        assert (found["accepted"], found["records"] - found["dead_letters"]) == (len(delivered), 250), found


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.kafka
def test_records_wait_for_a_registry_that_does_not_answer(
    site_of: Callable[[Config], Site], kafka: EmbeddedKafka, registry_server: RegistryServer, tmp_path: Path
) -> None:
    site = site_of(config_of(kafka, tmp_path, registry_server.url, "a INT"))
    daemon = site.daemon
    assert daemon is not None
    site.register("some", "a > 1", stream="avro")
    schema = record(("a", "int"))
    schema_id = registry_server.register(schema)
    registry_server.broken = 503
    site.publish([framed(schema_id, body(schema, {"a": n})) for n in range(4)], "avro")
    said = until(daemon.readiness)
    assert f"stream '{site.stream('avro')}' waits for the schema registry: " in said
    assert "answers 503" in said
    # A stop does not wait for it, and what waited is there after the next start.
    daemon.stop()
    daemon = site.daemon = site.start()
    until(daemon.readiness)
    registry_server.broken = None
    site.drain("avro")
    assert daemon.readiness() is None
    assert [found.offset for found in site.read(site.topic("some"))] == [2, 3]
    assert site.read(site.config.dead_letter_topic(site.stream("avro"))) == []
