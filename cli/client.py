"""The daemon's HTTP API, as the commands call it."""

from __future__ import annotations

import functools
import ipaddress
import json
import os
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from cli.arguments import EXISTING_FILE, config_option
from cli.failure import CommandError
from cli.schema_file import read_text

if TYPE_CHECKING:
    import httpx

    from broker.kafka.client import KafkaClient

DEFAULT_SERVER = "http://127.0.0.1:8750"
TIMEOUT_S = 60.0
"""A change is answered once the plan that has it is in place, which waits for no batch: it holds for every record from
the effective offset on, and for no record before it."""

KAFKA_ANSWERS_WITHIN_S = 10.0
"""How long Kafka is waited for at the start."""

_HEADER_TEXT = re.compile(r"[!-~]+")

Json = dict[str, Any]


class ServerError(CommandError):
    """What the daemon refused, with its own words; for a bulk load, an error for each refused line."""

    def __init__(self, status: int, error: Mapping[str, Any], lines: Sequence[Json] = ()) -> None:
        subject, value = str(error.get("subject") or "the daemon answers"), error.get("value", status)
        super().__init__(subject, value, str(error.get("remedy") or "see the daemon's log"))
        self.status = status
        self.lines = lines
        self.message = str(error.get("message") or super().__str__())
        self.caret_text = str(error.get("caret") or "")

    def __str__(self) -> str:
        return self.message


class NoAnswerError(CommandError):
    """No daemon answers at the address; one may in a moment."""


class Client:
    """A connection to one daemon; every method is one request and returns the JSON it answers.

    The proxies of the environment are used, but not for a loopback address: they could not reach it.
    Over https it trusts the certificates in ``ca_file``, a PEM file, or those that the system trusts.
    Errors: `CommandError` where no daemon answers, `ServerError` where it refuses.
    """

    def __init__(
        self, server: str, token: str | None = None, ca_file: Path | None = None, *, config_file: Path | None = None
    ) -> None:
        import httpx

        self._config_file = config_file
        if token and not _HEADER_TEXT.fullmatch(token):
            remedy = "an HTTP header takes only visible ASCII characters, without spaces: choose another token"
            raise CommandError("bearer token", "********", remedy)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.server = server.rstrip("/")
        try:
            self._http: httpx.Client = httpx.Client(
                base_url=self.server,
                headers=headers,
                timeout=TIMEOUT_S,
                trust_env=not is_loopback(httpx.URL(self.server).host),
                verify=_trusted(ca_file) if httpx.URL(self.server).scheme == "https" else True,
            )
        except httpx.InvalidURL as error:
            raise CommandError("server address", server, f"{error}; write it as {DEFAULT_SERVER}") from None

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def wait_at_most(self, timeout_s: float) -> None:
        """Wait for answers no longer than that."""
        self._http.timeout = timeout_s

    def request(self, method: str, path: str, **options: Any) -> Json:
        """One request; the options are httpx's."""
        response = self._send(method, path, **options)
        if response.is_success:
            return _object(response)
        raise ServerError(response.status_code, _error_of(response), _lines_of(response))

    def ready(self) -> Json:
        """Whether the daemon is ready, and if not why."""
        response = self._send("GET", "/readyz")
        answer = _object(response)
        if "ready" not in answer:
            raise ServerError(response.status_code, _error_of(response))
        return answer

    def streams(self) -> Json:
        """The streams, and the address of Kafka."""
        return self.request("GET", "/v1/streams")

    def kafka(self) -> KafkaClient:
        """A client of the Kafka that the daemon uses, with TLS and SASL as the file of ``--config`` says."""
        from broker.config.config import load_kafka_options
        from broker.kafka.client import KafkaClient, quiet_client_log

        quiet_client_log()
        options = load_kafka_options(self._config_file)
        asked = self.streams()["kafka"]
        protocol = asked.get("security_protocol", "PLAINTEXT")
        if protocol != "PLAINTEXT" and self._config_file is None and not options:
            remedy = f"is spoken to by {protocol}: name the file that has its [kafka.options] with --config"
            raise CommandError("Kafka", asked["bootstrap_servers"], remedy)
        return KafkaClient(asked["bootstrap_servers"], options, KAFKA_ANSWERS_WITHIN_S)

    def stream(self, name: str | None) -> Json:
        """The stream of that name, or the only one."""
        found = {stream["name"]: stream for stream in self.streams()["streams"]}
        if name is None and len(found) == 1:
            name = next(iter(found))
        if name not in found:
            known = ", ".join(found) or "none is configured"
            if name is None:
                raise CommandError("stream", "", f"name one with --stream; the daemon's streams: {known}")
            raise CommandError("unknown stream", name, f"the daemon's streams: {known}")
        found_stream: Json = found[name]
        return found_stream

    def add(self, query: Json, *, replaces: bool = True) -> Json:
        """Register one query, or replace the one of its id."""
        return self.request("POST", "/v1/queries", json=query, headers=_condition(replaces))

    def add_join(self, join: Json, *, replaces: bool = True) -> Json:
        """Register one join, or put it in place of the query of its id; its layer may have many shapes."""
        headers = _condition(replaces)
        return self.request("POST", "/v1/joins", json=join, headers=headers, timeout=10 * TIMEOUT_S)

    def joins(self) -> list[Json]:
        """The joins, by id."""
        return [join for page in self._pages("/v1/joins", "queries", {}) for join in page]

    def excluded_shapes(self, query_id: str) -> list[Json]:
        """Return the first shapes that a join excludes, each with the reason."""
        shapes: list[Json] = self.request("GET", f"{query_path(query_id)}/excluded-shapes")["shapes"]
        return shapes

    def add_near(self, near: Json, *, replaces: bool = True) -> Json:
        """Register one near query, or put it in place of the query of its id."""
        return self.request("POST", "/v1/near", json=near, headers=_condition(replaces))

    def near(self) -> list[Json]:
        """The near queries, by id."""
        return [query for page in self._pages("/v1/near", "queries", {}) for query in page]

    def apply(self, ndjson: bytes, *, keep_going: bool, replaces: bool = True, dry_run: bool = False) -> Json:
        """Register many, one a line, and remove what ``{"remove": ID}`` lines name: all or none, or all that are valid;
        with ``dry_run``, what would become of it.
        """
        asked = {"keep_going": keep_going, "dry_run": dry_run}
        return self.request(
            "POST",
            "/v1/queries",
            params={name: "true" for name, is_asked in asked.items() if is_asked},
            content=ndjson,
            headers={"Content-Type": "application/x-ndjson", **_condition(replaces)},
            timeout=10 * TIMEOUT_S,
        )

    def loads(self) -> list[Json]:
        """How far the changes are that are under way; asked while something else is waited for, so for two seconds."""
        found = self.request("GET", "/v1/loads", timeout=2.0).get("loads")
        return found if isinstance(found, list) else []

    def queries(self, **filters: str | None) -> list[Json]:
        """The registered queries that pass the filters, by id."""
        return [query for page in self.query_pages(**filters) for query in page]

    def query_pages(self, **filters: str | None) -> Iterator[list[Json]]:
        """The same, a page at a time, of which none is kept."""
        return self._pages("/v1/queries", "queries", filters)

    def _pages(self, path: str, key: str, filters: Mapping[str, str | None]) -> Iterator[list[Json]]:
        params = {"limit": "1000", **{name: value for name, value in filters.items() if value is not None}}
        while True:
            page = self.request("GET", path, params=params)
            yield page[key]
            if not page.get("cursor"):
                return
            params["cursor"] = page["cursor"]

    def query(self, query_id: str) -> Json:
        """One registered query."""
        return self.request("GET", query_path(query_id))

    def change(self, query_id: str, change: Json) -> Json:
        """Change a part of one registered query."""
        return self.request("PUT", query_path(query_id), json=change)

    def remove(self, query_id: str) -> Json:
        """Remove one query; no record from the effective offset on reaches it."""
        return self.request("DELETE", query_path(query_id))

    def check(self, where: str, stream: str | None, layer: str | None = None) -> Json:
        """What a predicate, or that of a join over a layer, would become, without registering it."""
        body = {"where": where, "stream": stream, "layer": layer}
        return self.request("POST", "/v1/check", json={key: value for key, value in body.items() if value is not None})

    def trial(self, where: str, stream: str | None, *, last: int, show: int) -> Json:
        """What a predicate would have accepted of the last records, without registering it."""
        body = {"where": where, "last": last, "show": show}
        return self.request("POST", "/v1/test", json=body if stream is None else {**body, "stream": stream})

    def explain(self, query_id: str, values: Json | None, *, whole: bool = False) -> Json:
        """The constructs a query uses, or what becomes of a tuple; both and its way with ``whole``."""
        return self.request("POST", f"{query_path(query_id)}/explain", json={"tuple": values, "with_sequence": whole})

    def trace(self, *, values: Json | None, source: str | None, **asked: Any) -> Json:
        """What becomes of a tuple, or of a record of a source topic: ``stream``, ``query``, ``max_blocks``, or none."""
        record = {"tuple": values} if source is None else {"source": source}
        body = {**record, **{name: value for name, value in asked.items() if value is not None}}
        return self.request("POST", "/v1/trace", json=body)

    def block(self, stream: str, number: int) -> Json:
        """A block of a stream's running plan, by its number from 0 on."""
        return self.request("GET", f"/v1/plan/{quote(stream, safe='')}/blocks/{number}")

    def plan(self) -> Json:
        """The running plan of every stream."""
        return self.request("GET", "/v1/plan")

    def layers(self) -> list[Json]:
        """The layers of the configuration."""
        found: list[Json] = self.request("GET", "/v1/layers")["layers"]
        return found

    def layer(self, name: str) -> Json:
        """One layer, with what is refused of it."""
        return self.request("GET", _layer_path(name))

    def shapes(self, name: str, prefix: str = "") -> Iterator[Json]:
        """The rows of a layer, by id: what is to be said about each shape."""
        return chain.from_iterable(self._pages(f"{_layer_path(name)}/shapes", "shapes", {"prefix": prefix}))

    def shape(self, name: str, shape_id: str) -> Json:
        """One row of a layer, as a GeoJSON Feature."""
        return self.request("GET", f"{_layer_path(name)}/shapes/{quote(shape_id, safe='')}")

    def put_shapes(self, name: str, ndjson: bytes, *, keep_going: bool = False) -> Json:
        """Put rows of a layer, Features with ids, and remove what ``{"remove": ID}`` lines name: all or none, or with
        ``keep_going`` the valid ones, and the others among the ``errors`` of the answer. Where it is all of them, they
        are the lines of the `ServerError`.
        """
        return self.request(
            "POST",
            f"{_layer_path(name)}/shapes",
            params={"keep_going": "true"} if keep_going else {},
            content=ndjson,
            headers={"Content-Type": "application/x-ndjson"},
            timeout=10 * TIMEOUT_S,
        )

    def remove_shape(self, name: str, shape_id: str) -> Json:
        """Remove one row of a layer."""
        return self.request("DELETE", f"{_layer_path(name)}/shapes/{quote(shape_id, safe='')}")

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        import httpx

        try:
            return self._http.request(method, path, **options)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                reason = str(error).partition("failed: ")[2].partition(" (_ssl")[0] or str(error)
                remedy = f"{reason}: name its certificate, or its CA's, with --ca-file (ASC_CA_FILE)"
                raise CommandError("the certificate is not trusted of", self.server, remedy) from None
            if "SSL" in str(error):
                remedy = "is it http://? An address without TLS has no s"
                raise CommandError("no TLS is spoken at", self.server, remedy) from None
            remedy = "start one with 'asc serve', or name another with --server"
            raise NoAnswerError("no daemon answers at", self.server, remedy) from None
        except httpx.TimeoutException:
            remedy = "see its log; whether the change was made shows 'asc query list'"
            raise NoAnswerError("the daemon does not answer in time at", self.server, remedy) from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise CommandError("server address", self.server, f"write it as {DEFAULT_SERVER}") from None
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            remedy = f"{type(error).__name__}: {error}; where the API has a certificate, the address begins with https"
            raise NoAnswerError("the connection ends without an answer, server", self.server, remedy) from None
        except httpx.HTTPError as error:
            remedy = f"{type(error).__name__}: {error}"
            raise CommandError("the daemon's answer cannot be read, server", self.server, remedy) from None


def _layer_path(name: str) -> str:
    return f"/v1/layers/{quote(name, safe='')}"


def query_path(query_id: str) -> str:
    """The path of one query; CommandError for an id that would lead elsewhere.

    >>> query_path("a/b c")
    '/v1/queries/a%2Fb%20c'
    """
    if query_id in ("", ".", ".."):
        raise CommandError("query id", query_id, "is none: 'asc query list' shows the registered ones")
    return f"/v1/queries/{quote(query_id, safe='')}"


def is_loopback(host: str) -> bool:
    """Whether a host of an address is this machine itself.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "broker", "10.0.0.1")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def connected(
    server: str, token_file: Path | None, ca_file: Path | None, config_file: Path | None = None
) -> Iterator[Client]:
    """A client, closed at the end."""
    client = Client(server, read_token(token_file), ca_file, config_file=config_file)
    try:
        yield client
    finally:
        client.close()


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name the daemon; the command is called with a `Client` as ``client``."""

    @functools.wraps(command)
    def with_client(server: str, token_file: Path | None, ca_file: Path | None, **arguments: Any) -> Any:
        with connected(server, token_file, ca_file) as client:
            return command(client=client, **arguments)

    return address_options(with_client)


def kafka_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same options for a command that talks to Kafka as well, and the file with Kafka's."""

    @functools.wraps(command)
    def with_client(
        server: str, token_file: Path | None, ca_file: Path | None, config_file: Path | None, **arguments: Any
    ) -> Any:
        with connected(server, token_file, ca_file, config_file) as client:
            return command(client=client, **arguments)

    help_text = "The daemon's configuration file, or one with its [kafka.options] alone: Kafka's TLS and SASL."
    return config_option(help_text)(address_options(with_client))


def address_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same options for a command that may do without a daemon: its ``server``, ``token_file`` and ``ca_file``."""
    authority = click.option(
        "--ca-file",
        envvar="ASC_CA_FILE",
        type=EXISTING_FILE,
        help="PEM file of the certificates to trust over https, instead of the system's (ASC_CA_FILE).",
    )
    token = click.option(
        "--token-file",
        type=EXISTING_FILE,
        help="File with the bearer token; without it the variable ASC_TOKEN is used.",
    )
    address = click.option(
        "--server", envvar="ASC_SERVER", default=DEFAULT_SERVER, show_default=True, help="The daemon (ASC_SERVER)."
    )
    return address(token(authority(command)))


def read_token(token_file: Path | None) -> str | None:
    """The bearer token from its file, or from the variable ASC_TOKEN; CommandError for a file that holds none."""
    if token_file is None:
        return os.environ.get("ASC_TOKEN") or None
    token = read_text(token_file).strip()
    if not token:
        raise CommandError("token file", str(token_file), "is empty: write the daemon's bearer token into it")
    return token


def _trusted(ca_file: Path | None) -> ssl.SSLContext:
    import truststore

    if ca_file is None:
        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (ssl.SSLError, OSError) as error:
        remedy = f"holds no certificate in PEM form: {getattr(error, 'reason', None) or error}"
        raise CommandError("CA file", str(ca_file), remedy) from None


def _condition(replaces: bool) -> dict[str, str]:
    return {} if replaces else {"If-None-Match": "*"}


def _object(response: httpx.Response) -> Json:
    if not response.content:
        return {}
    try:
        answer = response.json()
    except json.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        remedy = "is it the daemon's address? Name it with --server"
        raise CommandError("no JSON object answered by", str(response.url), remedy)
    return answer


def _error_of(response: httpx.Response) -> Json:
    """The daemon's error object; for another kind of answer, one that says so."""
    try:
        error = _object(response).get("error")
    except CommandError:
        error = None
    if isinstance(error, dict):
        return error
    remedy = "is it the daemon's address? Name it with --server"
    return {
        "message": f"{response.request.method} {response.url} answers {response.status_code}: {remedy}",
        "subject": str(response.url),
        "value": response.status_code,
        "remedy": remedy,
    }


def _lines_of(response: httpx.Response) -> list[Json]:
    """The errors by line that come with a refused bulk load."""
    try:
        lines = _object(response).get("errors")
    except CommandError:
        return []
    return lines if isinstance(lines, list) else []
