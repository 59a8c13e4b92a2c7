"""Fuzzing of the HTTP API: schemathesis generates requests from the API's OpenAPI description, and a real daemon
answers them.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import requests
import schemathesis
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from bench.ports import free_port
from broker.config.sections import KafkaConfig
from broker.kafka.cluster import KafkaCluster
from tools.faults.broker_process import BrokerProcess
from tools.faults.node import Node
from tools.fuzz.predicate_texts import plain_conjunctions, texts
from tools.fuzz.target import Target, Violation

if TYPE_CHECKING:
    from schemathesis import APIOperation, Case
    from typing_extensions import Self

IDS = ("a", "b-1", "c.2", "a b", "\u00e6", "..", "x" * 250)
TOPICS = ("fuzz-out-1", "fuzz-out-2", "asc.a", "no such topic")
DDL = "flag BOOLEAN, n INT, big BIGINT, d DOUBLE, s STRING, city STRING, day DATE, ts TIMESTAMP, tags ARRAY<STRING>"
_STREAM = "fuzzed"
_SOURCE = "fuzz-in"
_WEEK_MS = str(7 * 24 * 3600 * 1000)
_REGISTRY = {"cleanup.policy": "compact", "min.compaction.lag.ms": _WEEK_MS, "delete.retention.ms": _WEEK_MS}
_NDJSON = "application/x-ndjson"
_SWAPPED_HEADERS = ("authorization", "content-length", "host", "connection", "accept-encoding", "transfer-encoding")
_HURRIED = 429
_UNAUTHORISED = 401


class ApiCalls:
    """The requests that an API's description permits, and the API that answers them.

    Invariant of each answer: its status is in the description, and is not 5xx. Its body matches the description. If the
    request had no token, the answer reveals only the health of the process.
    """

    def __init__(self, client: httpx.Client, token: str, stream: str, topics: Sequence[str] = TOPICS) -> None:
        self._client = client
        self._token = token
        self._stream = stream
        self._topics = topics
        answer = client.get("/openapi.json", headers=self._authorised)
        schema = schemathesis.openapi.from_dict(_without_loads(answer.json()))
        found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
        self._operations = {f"{one.method.upper()} {one.path}": one for one in found}

    def inputs(self) -> SearchStrategy[bytes]:
        """Generate requests as JSON: operation, path with query, headers, body (one byte per character), and the
        caller's token.
        """
        return st.one_of([self._requests(name, one) for name, one in self._operations.items()] + [self._loads()])

    def check(self, given: bytes) -> None:
        """Send a request. Raise Violation if the answer does not match the description."""
        request = json.loads(given)
        operation = self._operations[request["operation"]]
        token = {"right": self._token, "wrong": self._token[:-1]}.get(request["token"])
        headers = {**request["headers"], **({"Authorization": f"Bearer {token}"} if token else {})}
        method = request["operation"].partition(" ")[0]
        try:
            answer = self._client.request(
                method, request["path"], headers=headers, content=request["body"].encode("latin-1")
            )
        except (httpx.LocalProtocolError, httpx.InvalidURL):
            return  # The HTTP client refuses to send this request.
        fault = fault_of(answer, operation.definition.raw, is_known=request["token"] == "right")
        if fault is not None:
            raise Violation(f"{request['operation']}: {fault}: {answer.text[:300]}")
        try:
            operation.validate_response(answer)
        except Exception as error:
            raise Violation(f"{request['operation']}: {answer.status_code}: {' '.join(str(error).split())}") from error

    def settle(self) -> None:
        """Remove every query. Raise Violation if the daemon is not ready."""
        while True:
            page = self._client.get("/v1/queries", params={"limit": 1000}, headers=self._authorised).json()["queries"]
            if not page:
                break
            for query in page:
                path = f"/v1/queries/{quote(query['id'], safe='')}"
                self._client.delete(path, headers=self._authorised)
        ready = self._client.get("/readyz")
        if ready.status_code != 200:
            raise Violation(f"the daemon is not ready: {ready.text}")

    @property
    def _authorised(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    def _requests(self, name: str, operation: APIOperation[Any, Any, Any, Any]) -> SearchStrategy[bytes]:
        """Generate requests that the description permits, and requests that it forbids. Some have existing ids, streams
        and valid predicates.
        """
        modes = [GenerationMode(GenerationMode.POSITIVE)]
        if operation.path.startswith("/v1/"):
            modes.append(GenerationMode(GenerationMode.NEGATIVE))
        cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])
        overlaid = st.tuples(cases, st.none() | self._bodies(), _whose())
        return overlaid.map(lambda drawn: self._encoded(name, *drawn))

    def _bodies(self) -> SearchStrategy[dict[str, Any]]:
        """Generate fields of a query, such as existing topics and valid predicates. They replace the fields with the
        same names in a generated body.
        """
        return st.fixed_dictionaries(
            {
                "id": st.sampled_from(IDS),
                "where": st.one_of(plain_conjunctions(), texts()),
                "topic": st.sampled_from(self._topics),
                "stream": st.sampled_from((self._stream, self._stream, "other")),
                "tuple": st.none()
                | st.dictionaries(st.sampled_from(("n", "s", "tags", "x")), _json_values(), max_size=3),
            }
        )

    def _loads(self) -> SearchStrategy[bytes]:
        """Generate bulk loads, some lines of which are queries."""
        query = self._bodies().map(
            lambda body: json.dumps({key: body[key] for key in ("id", "where", "topic", "stream")})
        )
        line = st.one_of(query, query, _json_values().map(json.dumps), st.text(max_size=20), st.just(""))
        return st.tuples(st.lists(line, max_size=6), st.booleans(), _whose()).map(
            lambda drawn: _plain(
                "POST /v1/queries",
                f"/v1/queries?keep_going={str(drawn[1]).lower()}",
                {"Content-Type": _NDJSON},
                "\n".join(drawn[0]).encode("utf-8", "surrogatepass"),
                drawn[2],
            )
        )

    def _encoded(self, name: str, case: Case[Any], body: Mapping[str, Any] | None, whose: str) -> bytes:
        if body is not None and "query_id" in case.path_parameters:
            case.path_parameters["query_id"] = body["id"]
        if body is not None and isinstance(case.body, dict):
            case.body.update({key: value for key, value in body.items() if key in case.body or key == "where"})
            if "/explain" in name:
                case.body.pop("where", None)
        sent = case.as_transport_kwargs(base_url=str(self._client.base_url).rstrip("/"))
        known = {
            key: sent[key] for key in ("method", "url", "params", "data", "json", "files") if sent.get(key) is not None
        }
        headers = {key: value for key, value in dict(sent.get("headers") or {}).items() if _can_be_sent(key, value)}
        try:
            if "json" in known:
                # Include NaN and infinities: a client may send them, although this client's library refuses them.
                known["data"], known["headers"] = json.dumps(known.pop("json")), {"Content-Type": "application/json"}
            prepared = requests.Request(**known).prepare()
        except (ValueError, UnicodeError):
            return _plain(name, "/v1/queries", {}, b"", whose)
        headers = {
            **{key: str(value) for key, value in prepared.headers.items() if _can_be_sent(key, str(value))},
            **headers,
        }
        content = prepared.body if isinstance(prepared.body, (str, bytes)) else b""
        content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        return _plain(name, prepared.path_url, headers, content, whose)


class ApiTarget(Target):
    """Target whose inputs are requests (see :class:`ApiCalls`) to a daemon with a separate Kafka."""

    name = "api"
    input_s = 30.0
    growth_mb = 128
    is_shrunk = False

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="asc-fuzz-api-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        self._node = Node(folder / "kafka")
        self._node.start()
        cluster = KafkaCluster(self._node.bootstrap_servers, KafkaConfig())
        cluster.create_topics([_SOURCE, f"{_STREAM}.dead-letter", *TOPICS[:-1]], {})
        cluster.create_topics(["asc.queries"], _REGISTRY)
        cluster.close()
        token, port = secrets.token_hex(16), free_port()
        (folder / "token").write_text(token, "utf-8")
        config = folder / "asc.toml"
        config.write_text(_config(self._node.bootstrap_servers, port, folder), "utf-8")
        self._broker = BrokerProcess(config, f"http://127.0.0.1:{port}")
        self._broker.launch()
        self._broker.await_ready()
        self._calls = ApiCalls(self._broker.client, token, _STREAM)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._broker.kill()
        self._node.stop()
        self._folder.cleanup()

    def weighed(self) -> list[int]:
        """See :class:`Target`. The JVM is not included, because its heap may grow up to its limit."""
        return [self._broker.pid]

    def inputs(self) -> SearchStrategy[bytes]:
        """See :class:`Target`."""
        return self._calls.inputs()

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        self._calls.check(given)

    def settle(self) -> None:
        """See :class:`Target`."""
        self._calls.settle()


def _without_loads(described: dict[str, Any]) -> dict[str, Any]:
    """Return a description without the NDJSON bodies of bulk loads, which Schemathesis cannot generate; they are
    generated separately.
    """
    for operations in described["paths"].values():
        for operation in operations.values():
            operation.get("requestBody", {}).get("content", {}).pop(_NDJSON, None)
    return described


def fault_of(answer: httpx.Response, described: Mapping[str, Any], *, is_known: bool) -> str | None:
    """Return the fault of an answer to an operation, apart from faults of its body. Return None if there is no fault.

    ``is_known``: whether the request had the token.
    """
    status = answer.status_code
    if status >= 500:
        return f"answered {status}"
    if str(status) not in described["responses"]:
        return f"answered {status}, which is not described"
    if not is_known and "security" in described and status not in (_UNAUTHORISED, _HURRIED):
        return f"answered {status} without a token"
    if is_known and status == _UNAUTHORISED:
        return "answered 401 to the token"
    return None


def _config(bootstrap_servers: str, port: int, folder: Path) -> str:
    return f"""
        [kafka]
        bootstrap_servers = "{bootstrap_servers}"
        allow_topic_creation = false
        [api]
        port = {port}
        root_token_file = "{folder}/token"
        requests_per_s = 100000
        max_body_bytes = 100000
        [spark]
        master = "local[2]"
        driver_memory = "1g"
        checkpoint_dir = "{folder}/checkpoint"
        warm_up_s = 0
        [streams.{_STREAM}]
        topic = "{_SOURCE}"
        format = "json"
        schema = "{DDL}"
        """


def _plain(operation: str, path: str, headers: Mapping[str, str], body: bytes, whose: str) -> bytes:
    request = {
        "operation": operation,
        "path": path,
        "headers": dict(headers),
        "body": body.decode("latin-1"),
        "token": whose,
    }
    return json.dumps(request).encode()


def _whose() -> SearchStrategy[str]:
    return st.sampled_from(("right",) * 8 + ("wrong", "none"))


def _json_values() -> SearchStrategy[Any]:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    )


def _can_be_sent(name: str, value: object) -> bool:
    """Return whether a request may set a header, and HTTP can represent its value."""
    is_text = isinstance(value, str) and value.isascii() and value.isprintable() and name.isascii()
    return is_text and name.lower() not in _SWAPPED_HEADERS
