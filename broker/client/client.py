"""`broker.Client`: a daemon's HTTP API for programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import cast

from typing_extensions import Self

from broker.answers.block import Block
from broker.answers.plan import StreamPlan
from broker.answers.predicate import CheckedPredicate, Trial
from broker.answers.query import Applied, ExcludedShape, Join, Load, Query, Registered, Removed
from broker.answers.stream import Ready, Streams
from broker.answers.trace import Explanation, Trace
from broker.client.bodies import Body, checked_body, checked_mapping, flags, given, ndjson_of, query_body
from broker.client.connection import Connection
from broker.client.cubes import CubeClient
from broker.client.errors import ClientError, NoAnswerError, TooLargeError, TooManyRequestsError, UnavailableError
from broker.client.layers import NDJSON, LayerClient
from broker.client.load_parts import halved, part_at
from broker.client.paths import block_path, load_path, query_path
from broker.client.progress import Progress, followed
from broker.client.refused import object_of, refused

TIMEOUT_S = 60.0
"""The default timeout of a request. The daemon answers the request for a change when the running plan contains the
change, without waiting for a batch.
"""

_LOAD_TIMEOUTS = 10
"""The timeout of a load, of the registration of a join or of a change of a layer, as a multiple of the client's
timeout.
"""

PART_BYTES = 16 << 20
"""The largest load that is sent as one body. A larger load is sent in parts of at most this size, cut between lines."""

_LOADS_TIMEOUT_S = 2.0
_READY_POLL_S = 0.5
_READY_TIMEOUT_S = 10.0
"""The longest time that one readiness request may take while the client polls the daemon."""
_PAGE_SIZE = 1_000


class Client:
    """A connection to a running daemon. Threads may share it; ``with`` closes it.

    ``token``: a bearer token of the daemon. ``ca_file``: a PEM file of the certificates to trust over https, instead of
    the system's. ``timeout_s``: the longest time for an answer; a load may take ten times as long. Every method raises
    ClientError: RefusedError if the daemon refuses the request, NoAnswerError if no daemon answers.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        ca_file: str | PathLike[str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._connection = Connection(url, token, None if ca_file is None else Path(ca_file), timeout_s)
        self._load_timeout_s = _LOAD_TIMEOUTS * timeout_s
        self.layers = LayerClient(self._connection, self._load_timeout_s)
        self.cubes = CubeClient(self._connection, self._load_timeout_s)

    @property
    def url(self) -> str:
        """Return the daemon's address."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    # -- queries

    def add(
        self,
        query_id: str,
        where: str,
        *,
        stream: str | None = None,
        topic: str | None = None,
        join: Join | None = None,
        operator: Mapping[str, object] | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | str | None = None,
        paused: bool = False,
        replaces: bool = True,
    ) -> Registered:
        """Register a query, or replace the registered query that has this id. Return when the running plan contains the
        query.

        ``stream`` may be omitted if only one stream is configured. ``topic`` is ``asc.<id>`` by default. ``operator``:
        its ``name`` and fields. If ``replaces`` is false and the id is registered already, raise ConflictError.
        """
        fields: dict[str, object] = {"join": join, "operator": operator, "labels": labels, "paused": paused or None}
        body = query_body(query_id, where, stream=stream, topic=topic, expires_at=expires_at, **fields)
        return self.register(body, replaces=replaces)

    def register(self, body: Body, *, replaces: bool = True) -> Registered:
        """Register the query in a body, which has the form that `show` returns. If the query's id is already
        registered, replace the registered query, or raise ConflictError if ``replaces`` is false.
        """
        sent = checked_body(body)
        timeout_s = self._connection.timeout_s if sent.get("join") is None else self._load_timeout_s
        headers = _condition(replaces)
        answer = self._connection.asked("POST", "/v1/queries", json=sent, headers=headers, timeout=timeout_s)
        return cast("Registered", answer)

    def apply(
        self,
        queries: Iterable[Body] | str | PathLike[str],
        *,
        keep_going: bool = False,
        replaces: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Applied:
        """Register many queries in one step, and remove the queries that ``{"remove": ID}`` bodies name. Without
        ``keep_going``, all changes are applied or none.

        ``queries``: bodies, or the path of an NDJSON file. With ``keep_going``, the valid bodies are applied, and the
        invalid ones are listed in ``errors`` of the answer. Without ``keep_going``, RefusedError has the invalid bodies
        as ``lines``. ``progress`` is called from another thread about twice a second. With ``dry_run`` nothing is
        changed.
        """
        content = ndjson_of(queries)
        return self.apply_ndjson(content, keep_going=keep_going, replaces=replaces, dry_run=dry_run, progress=progress)

    def apply_ndjson(
        self,
        content: bytes,
        *,
        keep_going: bool = False,
        replaces: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Applied:
        """Apply lines of NDJSON as :meth:`apply` does. A large load is sent in parts, but still applied in one step."""
        params = flags(keep_going=keep_going, dry_run=dry_run)
        condition = _condition(replaces)
        timeout_s = self._load_timeout_s
        if len(content) <= PART_BYTES:
            headers = {"Content-Type": NDJSON, **condition}
            try:
                with followed(self.loads, progress):
                    answer = self._connection.asked(
                        "POST", "/v1/queries", params=params, content=content, headers=headers, timeout=timeout_s
                    )
                return cast("Applied", answer)
            except TooLargeError as error:
                size_bytes = halved(content, error)
        else:
            size_bytes = PART_BYTES
        path = self._sent_in_parts(content, size_bytes)
        with followed(self.loads, progress):
            answer = self._connection.asked(
                "POST", f"{path}/commit", params=params, json={}, headers=condition, timeout=timeout_s
            )
        return cast("Applied", answer)

    def _sent_in_parts(self, content: bytes, size_bytes: int) -> str:
        """Send the parts of a large load, and return the load's path. The daemon applies nothing yet.

        A part has at most ``size_bytes``. Parts become smaller if the daemon, or a proxy in front of it, refuses the
        size.
        """
        started = self._connection.asked("POST", "/v1/loads", json={})
        path = load_path(self._connection.field(started, "id", str))
        headers = {"Content-Type": NDJSON}
        number, start = 1, 0
        try:
            while start < len(content):
                part = part_at(content, start, size_bytes)
                try:
                    self._connection.asked(
                        "PUT", f"{path}/parts/{number}", content=part, headers=headers, timeout=self._load_timeout_s
                    )
                except TooLargeError as error:
                    size_bytes = halved(part, error)
                else:
                    number, start = number + 1, start + len(part)
        except BaseException:
            with suppress(ClientError):
                self._connection.asked("DELETE", path)
            raise
        return path

    def loads(self) -> Sequence[Load]:
        """Return the changes of queries that the daemon is applying now, with their progress. Wait at most two seconds
        for the answer.
        """
        answer = self._connection.asked("GET", "/v1/loads", timeout=_LOADS_TIMEOUT_S)
        return cast("Sequence[Load]", self._connection.field(answer, "loads", list))

    def list(
        self,
        *,
        stream: str | None = None,
        prefix: str | None = None,
        label: str | None = None,
        operator: str | None = None,
        layer: str | None = None,
        page_size: int = _PAGE_SIZE,
    ) -> Iterator[Query]:
        """Yield the registered queries that match all filters, ordered by id. Pages are requested as they are needed.

        ``label``: as ``key=value``. ``operator``: a name, or ``route`` for queries without an operator. ``layer``: only
        joins over this layer.
        """
        filters = {"stream": stream, "prefix": prefix, "label": label, "operator": operator, "layer": layer}
        return self._connection.items("/v1/queries", "queries", filters, page_size)

    def show(self, query_id: str) -> Query:
        """Return one registered query. Raise NotFoundError if the id is not registered."""
        return cast("Query", self._connection.asked("GET", query_path(query_id)))

    def excluded_shapes(self, query_id: str) -> Sequence[ExcludedShape]:
        """Return the shapes that a join excludes, with the reasons: only the first shapes, ordered by id."""
        answer = self._connection.asked("GET", f"{query_path(query_id)}/excluded-shapes")
        return cast("Sequence[ExcludedShape]", self._connection.field(answer, "shapes", list))

    def change(self, query_id: str, fields: Body) -> Registered:
        """Change the fields of a registered query that ``fields`` contains. All other fields stay unchanged."""
        return cast("Registered", self._connection.asked("PUT", query_path(query_id), json=checked_body(fields)))

    def pause(self, query_id: str) -> Registered:
        """Pause a query: it stays registered, but does not run. Records that arrive during the pause are never
        delivered.
        """
        return self.change(query_id, {"paused": True})

    def resume(self, query_id: str) -> Registered:
        """Resume a paused query."""
        return self.change(query_id, {"paused": False})

    def remove(self, query_id: str) -> Removed:
        """Remove a query. From the effective offsets on, no record is delivered for the query."""
        return cast("Removed", self._connection.asked("DELETE", query_path(query_id)))

    # -- predicates and records

    def check(
        self,
        where: str,
        *,
        stream: str | None = None,
        join: Join | None = None,
        operator: Mapping[str, object] | None = None,
    ) -> CheckedPredicate:
        """Return the normal form of a query's predicate, and the expressions of its operator. Nothing is registered."""
        body = given(where=where, stream=stream, join=join, operator=operator)
        return cast("CheckedPredicate", self._connection.asked("POST", "/v1/check", json=body))

    def test(self, where: str, *, stream: str | None = None, last: int = 10_000, show: int = 0) -> Trial:
        """Count the records that a predicate accepts among the ``last`` records of a stream. The answer also has the
        latest ``show`` accepted records.
        """
        body = given(where=where, stream=stream, last=last, show=show)
        return cast("Trial", self._connection.asked("POST", "/v1/test", json=body))

    def explain(
        self, query_id: str, values: Mapping[str, object] | None = None, *, with_sequence: bool = False
    ) -> Explanation:
        """Return the constructs that a query uses. With ``values``, return whether the query accepts the tuple of these
        values.

        ``with_sequence``: also return the path of the tuple through the sequence, including the constructs of all other
        queries.
        """
        body = {"tuple": _tuple_of(values), "with_sequence": with_sequence}
        return cast("Explanation", self._connection.asked("POST", f"{query_path(query_id)}/explain", json=body))

    def trace(
        self,
        *,
        values: Mapping[str, object] | None = None,
        source: str | None = None,
        stream: str | None = None,
        query: str | None = None,
        max_blocks: int | None = None,
    ) -> Trace:
        """Trace a tuple of ``values``, or the record ``source`` (``topic-partition-offset``), through the plan."""
        body = given(tuple=_tuple_of(values), source=source, stream=stream, query=query, max_blocks=max_blocks)
        return cast("Trace", self._connection.asked("POST", "/v1/trace", json=body))

    # -- the daemon

    def ready(self, *, timeout_s: float | None = None) -> Ready:
        """Return whether the daemon is ready, and the reason if it is not.

        ``timeout_s``: used in place of the client's timeout.
        """
        options = {} if timeout_s is None else {"timeout": timeout_s}
        response = self._connection.sent("GET", "/readyz", **options)
        if response.is_success or response.status_code == 503:
            answer = object_of(response)
            if "ready" in answer:
                return cast("Ready", answer)
        raise refused(response)

    def wait_until_ready(self, timeout_s: float, *, on_unready: Callable[[], object] | None = None) -> Ready:
        """Wait until the daemon is ready or the timeout has passed, and return the last answer.

        If no daemon answers within the timeout, raise the refusal or NoAnswerError of the last attempt. If the daemon
        is overloaded, try again. Call ``on_unready`` once, with the first answer of a daemon that is not ready, for
        example to check the token; an exception from it ends the wait.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                # A stopped process answers nothing: a request ends with the wait.
                left_s = max(_READY_POLL_S, deadline_s - time.monotonic())
                answer = self.ready(timeout_s=min(left_s, _READY_TIMEOUT_S))
                if answer["ready"] or time.monotonic() >= deadline_s:
                    return answer
                if on_unready is not None:
                    on_unready()
                    on_unready = None
            except (NoAnswerError, TooManyRequestsError, UnavailableError):
                if time.monotonic() >= deadline_s:
                    raise
            time.sleep(max(0.0, min(_READY_POLL_S, deadline_s - time.monotonic())))

    def streams(self) -> Streams:
        """Return the configured streams, and the address of their Kafka cluster."""
        answer = self._connection.asked("GET", "/v1/streams")
        self._connection.field(answer, "streams", list)
        return cast("Streams", answer)

    def plans(self) -> Mapping[str, StreamPlan]:
        """Return the running plan of every stream, by name."""
        answer = self._connection.asked("GET", "/v1/plan")
        return cast("Mapping[str, StreamPlan]", self._connection.field(answer, "streams", dict))

    def block(self, stream: str, number: int) -> Block:
        """Return the block ``number`` of a stream's running plan. The blocks are numbered from 0."""
        return cast("Block", self._connection.asked("GET", block_path(stream, number)))


def _tuple_of(values: object) -> Mapping[str, object] | None:
    return None if values is None else checked_mapping("tuple", values, '{"delay": 75}')


def _condition(replaces: bool) -> dict[str, str]:
    return {} if replaces else {"If-None-Match": "*"}
