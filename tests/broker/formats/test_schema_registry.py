"""The schema registry's client, against an HTTP server of the documented API."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import trustme

from broker.errors import SchemaAnswerError, SchemaRegistryError
from broker.formats import schema_registry
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema

if TYPE_CHECKING:
    from tests.broker.formats.conftest import RegistryServer


def registry_of(*urls: str, **more: object) -> SchemaRegistry:
    return SchemaRegistry(urls, timeout_s=2, **more)  # type: ignore[arg-type]


def test_a_schema_is_found_by_its_id_and_by_its_subject(registry_server: RegistryServer) -> None:
    first = registry_server.register('"int"', "flights-value")
    registry_server.register('"long"', "flights-value", schemaType="AVRO")
    registry = registry_of(registry_server.url)
    assert registry.schema(first) == WrittenSchema('"int"')
    assert registry.latest("flights-value") == WrittenSchema('"long"')
    assert registry.schema(99) is None
    assert registry.latest("nothing") is None


def test_what_a_schema_refers_to_comes_with_it(registry_server: RegistryServer) -> None:
    registry_server.register('"inner"', "inner")
    registry_server.register('"middle"', "middle", references=[{"name": "i", "subject": "inner", "version": 1}])
    refers = [{"name": "m", "subject": "middle", "version": 1}, {"name": "i", "subject": "inner", "version": 1}]
    found = registry_of(registry_server.url).schema(registry_server.register('"outer"', "outer", references=refers))
    assert found == WrittenSchema('"outer"', "AVRO", (("i", '"inner"'), ("m", '"middle"')))


def test_a_version_that_is_imported_by_two_names_comes_with_both(registry_server: RegistryServer) -> None:
    registry_server.register('"inner"', "inner")
    refers = [{"name": name, "subject": "inner", "version": 1} for name in ("a", "b", "a")]
    found = registry_of(registry_server.url).schema(registry_server.register('"outer"', "outer", references=refers))
    assert found is not None
    assert found.references == (("a", '"inner"'), ("b", '"inner"'))


def test_schemas_that_are_not_equal_have_digests_that_are_not() -> None:
    schemas = [
        WrittenSchema(text, kind, references)
        for text in ("a", "ab")
        for kind in ("AVRO", "PROTOBUF")
        for references in ((), (("b", "c"),), (("bc", ""),), (("b", ""), ("c", "")))
    ]
    assert len({schema.digest() for schema in schemas}) == len(schemas)
    assert WrittenSchema("a").digest() == schemas[0].digest()


def test_references_in_a_circle_are_refused(registry_server: RegistryServer) -> None:
    one = registry_server.register('"a"', "a", references=[{"name": "b", "subject": "b", "version": 1}])
    registry_server.register('"b"', "b", references=[{"name": "a", "subject": "a", "version": 1}])
    with pytest.raises(SchemaRegistryError, match="in a circle"):
        registry_of(registry_server.url).schema(one)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"username": "me", "password": "p:w"}, "Basic " + base64.b64encode(b"me:p:w").decode()),
        ({"token": "t0ken"}, "Bearer t0ken"),
    ],
    ids=["basic", "bearer"],
)
def test_it_is_told_who_asks(given: dict[str, str], wanted: str, registry_server: RegistryServer) -> None:
    registry_server.authorization = wanted
    found = registry_server.register('"int"')
    registry = registry_of(registry_server.url, **given)
    assert registry.schema(found) == WrittenSchema('"int"')
    assert not any(secret in repr(registry) for secret in ("p:w", "t0ken"))
    with pytest.raises(SchemaRegistryError, match=r"refuses .401.: check username"):
        registry_of(registry_server.url).schema(found)


@pytest.mark.parametrize("status", [500, 503, 404, 429])
def test_an_answer_that_says_nothing_is_no_word_on_the_schema(status: int, registry_server: RegistryServer) -> None:
    registry_server.broken = status
    with pytest.raises(SchemaRegistryError, match=f"answers {status}, and not as"):
        registry_of(registry_server.url).schema(1)


@pytest.mark.parametrize("status", [500, 503, 404, 429, 401, 403])
def test_a_schema_that_alone_has_no_answer_is_told_from_a_registry_without_one(
    status: int, registry_server: RegistryServer
) -> None:
    found, other = registry_server.register('"int"'), registry_server.register('"long"')
    registry_server.broken_ids[found] = status
    with pytest.raises(SchemaAnswerError, match=f"schema {found}: is not answered for") as caught:
        registry_of(registry_server.url).schema(found)
    assert caught.value.schema_ids == (found,)
    assert registry_of(registry_server.url).schema(other) == WrittenSchema('"long"')
    registry_server.broken = status
    with pytest.raises(SchemaRegistryError) as whole:
        registry_of(registry_server.url).schema(found)
    assert not isinstance(whole.value, SchemaAnswerError)


def test_a_registry_without_its_store_is_no_healthy_one(registry_server: RegistryServer) -> None:
    """Its types are no word on its store: a valid schema would be given up, and its records be dead letters."""
    found = registry_server.register('"int"')
    registry_server.broken_ids[found] = 500
    registry_server.listing = 500, {"error_code": 50001, "message": "Error in the backend data store"}
    with pytest.raises(SchemaRegistryError) as caught:
        registry_of(registry_server.url).schema(found)
    assert not isinstance(caught.value, SchemaAnswerError)
    assert "/schemas/types" not in registry_server.asked


@pytest.mark.parametrize(
    "listing",
    [(200, []), (200, ["subject"] * 500_000), (403, {"error_code": 40301, "message": "User is denied"})],
    ids=["none", "many", "forbidden"],
)
def test_a_registry_that_lists_subjects_or_forbids_that_is_healthy(
    listing: tuple[int, object], registry_server: RegistryServer
) -> None:
    found = registry_server.register('"int"')
    registry_server.broken_ids[found] = 500
    registry_server.listing = listing
    with pytest.raises(SchemaAnswerError):
        registry_of(registry_server.url).schema(found)


def test_an_id_that_the_registry_takes_for_none_is_none(registry_server: RegistryServer) -> None:
    registry_server.broken_ids[7] = 422
    assert registry_of(registry_server.url).schema(7) is None


def test_one_that_does_not_answer_is_named(registry_server: RegistryServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(SchemaRegistryError, match=f"schema registry '{url}': does not answer"):
            SchemaRegistry((url,), timeout_s=0.3).schema(1)
        found = registry_server.register('"int"')
        # The other one answers within this time on a busy machine too.
        both = SchemaRegistry((url, registry_server.url), timeout_s=3)
        assert both.schema(found) == WrittenSchema('"int"')


def test_an_answer_without_end_is_not_read(registry_server: RegistryServer) -> None:
    found = registry_server.register('"' + "x" * (5 << 20) + '"')
    with pytest.raises(SchemaRegistryError, match="more than 4 MiB"):
        registry_of(registry_server.url).schema(found)


def test_an_answer_is_as_long_as_the_limit_and_no_longer(
    registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, registry = registry_server.register('"int"'), registry_of(registry_server.url)
    size_bytes = len(httpx.get(f"{registry_server.url}/schemas/ids/{found}", timeout=30).content)
    monkeypatch.setattr(schema_registry, "_ANSWER_BYTES", size_bytes)
    assert registry.schema(found) == WrittenSchema('"int"')
    monkeypatch.setattr(schema_registry, "_ANSWER_BYTES", size_bytes - 1)
    with pytest.raises(SchemaRegistryError, match="answers with more than"):
        registry.schema(found)


def test_an_answer_in_an_encoding_is_not_inflated(registry_server: RegistryServer) -> None:
    """Two layers of gzip turn 3 kB into gigabytes."""
    found = registry_server.register('"int"')
    registry_server.encoding = "gzip, gzip"
    with pytest.raises(SchemaRegistryError, match="answers in the encoding 'gzip, gzip', not asked for"):
        registry_of(registry_server.url).schema(found)


def test_an_answer_that_comes_byte_by_byte_has_an_end(registry_server: RegistryServer) -> None:
    found = registry_server.register('"' + "x" * 10_000 + '"')
    registry_server.pause_s = 0.05
    with pytest.raises(SchemaRegistryError, match=r"does not answer: it takes over 0.3 s for one answer"):
        SchemaRegistry((registry_server.url,), timeout_s=0.3).schema(found)


def test_a_schema_refers_to_no_more_others_than_the_limit(
    registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_registry, "_REFERENCES_MAX", 3)
    above: list[dict[str, object]] = []
    for number in range(5):
        found = registry_server.register('"int"', f"s{number}", references=above)
        above = [{"name": f"s{number}", "subject": f"s{number}", "version": 1}]
    assert registry_of(registry_server.url).schema(found - 1) is not None
    with pytest.raises(SchemaRegistryError, match="references"):
        registry_of(registry_server.url).schema(found)


@pytest.mark.parametrize("references", ["abc", {"name": "x"}, 7, ["x"], [None]], ids=repr)
def test_references_of_another_type_are_the_fault_of_the_registry(
    references: object, registry_server: RegistryServer
) -> None:
    found = registry_server.register('"int"', references=references)
    with pytest.raises(SchemaRegistryError, match="is no list of references"):
        registry_of(registry_server.url).schema(found)


REFERENCE = {"name": "a", "subject": "s", "version": 1}


def test_fields_of_another_type_and_half_characters_are_the_fault_of_the_registry(
    registry_server: RegistryServer,
) -> None:
    registry = registry_of(registry_server.url)
    registry_server.register('"int"', "s")
    assert registry.schema(registry_server.register('"int"', references=[REFERENCE])) is not None
    wrong: list[tuple[str, object]] = [("version", "1"), ("version", True), ("version", None)]
    wrong += [(key, value) for key in ("name", "subject") for value in ("\ud800", ["s"], {"s": 1}, None)]
    for key, value in wrong:
        found = registry_server.register('"int"', references=[{**REFERENCE, key: value}])
        with pytest.raises(SchemaRegistryError, match="is no list of references with name, subject, version"):
            registry.schema(found)
    for more in ({"schema": "\udc00"}, {"schema": 5}, {"schema": None}, {"schemaType": "\ud800"}, {"schemaType": [1]}):
        found = registry_server.register('"int"')
        registry_server.schemas[found].update(more)
        with pytest.raises(SchemaRegistryError, match=r"answer without a schema(Type)?'"):
            registry.schema(found)


def test_what_a_schema_refers_to_is_bounded_in_text(
    registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_registry, "_REFERENCES_BYTES_MAX", 100)
    for number in range(4):
        registry_server.register('"' + "ö" * 20 + '"', f"s{number}")
    refers = [{"name": f"s{number}", "subject": f"s{number}", "version": 1} for number in range(4)]
    registry = registry_of(registry_server.url)
    assert registry.schema(registry_server.register('"int"', references=refers[:2])) is not None
    found = registry_server.register('"int"', references=refers)
    registry_server.asked.clear()
    with pytest.raises(SchemaRegistryError, match="'s2': is referred to, and makes more than"):
        registry.schema(found)
    assert "/subjects/s3/versions/1" not in registry_server.asked


def test_a_schema_is_bounded_in_time_with_all_that_it_refers_to(
    registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_registry, "_TIMEOUTS_A_SCHEMA_MAX", 1)
    refers = [{"name": f"s{number}", "subject": f"s{number}", "version": 1} for number in range(5)]
    for number in range(5):
        registry_server.register('"int"', f"s{number}")
    registry_server.delay_s = 0.3
    with pytest.raises(SchemaRegistryError, match="takes over"):
        SchemaRegistry((registry_server.url,), timeout_s=1).schema(registry_server.register('"int"', references=refers))


def test_an_address_that_is_silent_costs_a_schema_its_time_once(
    registry_server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_registry, "_TIMEOUTS_A_SCHEMA_MAX", 3)
    refers = [{"name": f"s{number}", "subject": f"s{number}", "version": 1} for number in range(3)]
    for number in range(3):
        registry_server.register('"int"', f"s{number}")
    found = registry_server.register('"int"', references=refers)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert SchemaRegistry((url, registry_server.url), timeout_s=1).schema(found) is not None


def test_tls_trusts_the_file_alone_and_shows_a_certificate(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    mine = authority.issue_cert("me@example.com")
    mine.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "me.pem"))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = b'{"schema": "\\"int\\""}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"https://127.0.0.1:{server.server_port}"
        trusted = registry_of(url, ca_file=tmp_path / "ca.pem", cert_file=tmp_path / "me.pem")
        assert trusted.schema(1) == WrittenSchema('"int"')
        for other in (registry_of(url), registry_of(url, ca_file=tmp_path / "ca.pem")):
            with pytest.raises(SchemaRegistryError, match="does not answer"):
                other.schema(1)
        server.shutdown()
