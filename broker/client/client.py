"""`broker.Client`: Python methods for the HTTP API of a running daemon."""

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
"""The default timeout of a request, in seconds. It suffices for the change of a query: the daemon answers when the
running plan contains the change, without waiting for a batch.
"""

_LOAD_TIMEOUTS = 10
"""The factor between the client's timeout and the timeout of slow requests: a bulk load, the registration of a join, or
a change of a layer.
"""

PART_BYTES = 16 << 20
"""The size in bytes up to which a bulk load is sent as one body. A larger load is sent in parts of at most this size,
cut between lines.
"""

_LOADS_TIMEOUT_S = 2.0
_READY_POLL_S = 0.5
_READY_TIMEOUT_S = 10.0
"""The longest time in seconds that one readiness request may take while the client polls the daemon."""
_PAGE_SIZE = 1_000


class Client:
    """A client for the HTTP API of a running daemon. Threads may share it. As a context manager, it closes its
    connections at the end of the ``with`` block.

    ``url``: the address of the API. ``token``: a bearer token of the daemon; None sends no token. ``ca_file``: a PEM
    file of the certificates to trust over https; None means the system's certificates. ``timeout_s``: the longest wait
    for an answer, in seconds; a bulk load may take ten times as long. Every method raises ClientError: RefusedError if
    the daemon refuses the request, NoAnswerError if no daemon answers.
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
        """Return the daemon's address, without user name and password."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the daemon."""
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

        ``where``: the predicate. ``stream`` may be omitted if only one stream is configured. ``topic``: the destination
        topic, by default ``asc.<id>``. ``join``: the layer, if the query is a join. ``operator``: the name of the kind
        as ``name``, and the kind's parameters. If ``replaces`` is false and the id is registered already, raise
        ConflictError.
        """
        fields: dict[str, object] = {"join": join, "operator": operator, "labels": labels, "paused": paused or None}
        body = query_body(query_id, where, stream=stream, topic=topic, expires_at=expires_at, **fields)
        return self.register(body, replaces=replaces)

    def register(self, body: Body, *, replaces: bool = True) -> Registered:
        """Register the query in a body, which has the form that `show` returns. If the query's id is already
        registered, replace the registered query; if ``replaces`` is false, raise ConflictError instead.
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
        refused ones are listed in ``errors`` of the answer. Without ``keep_going``, RefusedError lists the refused
        bodies in ``lines``. Without ``replaces``, a body whose id is registered is refused. ``progress`` is called with
        the load's progress from another thread, about twice a second. With ``dry_run``, the bodies are only validated.
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
        """Apply NDJSON lines, each with the body of one query, as :meth:`apply` does. A load larger than ``PART_BYTES``
        is sent in several requests, but the daemon still applies it in one step.
        """
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
        """Send the parts of a large load, and return the load's path in the API. The daemon only stores the parts; a
        later request to ``PATH/commit`` applies them.

        ``size_bytes``: the largest size of a part. If the daemon, or a proxy in front of it, refuses a part as too
        large, this part and all later ones are sent with half the size. If a part cannot be sent, delete the load.
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
        """Yield the registered queries that match all filters, ordered by id. A page is requested when the queries of
        the preceding page are used up.

        ``prefix``: the beginning of the ids. ``label``: as ``key=value``. ``operator``: a name, or ``route`` for
        queries without an operator. ``layer``: only joins over this layer. ``page_size``: the number of queries that
        one request returns.
        """
        filters = {"stream": stream, "prefix": prefix, "label": label, "operator": operator, "layer": layer}
        return self._connection.items("/v1/queries", "queries", filters, page_size)

    def show(self, query_id: str) -> Query:
        """Return the registered query with an id. Raise NotFoundError if the id is not registered."""
        return cast("Query", self._connection.asked("GET", query_path(query_id)))

    def excluded_shapes(self, query_id: str) -> Sequence[ExcludedShape]:
        """Return the shapes that a join excludes, each with the reason. Only the first 100 shapes are returned, ordered
        by id.
        """
        answer = self._connection.asked("GET", f"{query_path(query_id)}/excluded-shapes")
        return cast("Sequence[ExcludedShape]", self._connection.field(answer, "shapes", list))

    def change(self, query_id: str, fields: Body) -> Registered:
        """Give the fields of a registered query that ``fields`` contains new values, and leave all other fields
        unchanged.
        """
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
        """Remove a query. From the effective offsets in the answer on, no record is delivered for the query."""
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
        """Return the normal form of a query's predicate, and the expressions of a record that its operator reads.
        Nothing is registered.
        """
        body = given(where=where, stream=stream, join=join, operator=operator)
        return cast("CheckedPredicate", self._connection.asked("POST", "/v1/check", json=body))

    def test(self, where: str, *, stream: str | None = None, last: int = 10_000, show: int = 0) -> Trial:
        """Count the records that a predicate accepts among the ``last`` records of a stream. The answer also contains
        the latest accepted records, at most ``show``.
        """
        body = given(where=where, stream=stream, last=last, show=show)
        return cast("Trial", self._connection.asked("POST", "/v1/test", json=body))

    def explain(
        self, query_id: str, values: Mapping[str, object] | None = None, *, with_sequence: bool = False
    ) -> Explanation:
        """Return the constructs that a query uses. With ``values`` (the fields of a tuple, by name), return whether the
        query accepts this tuple.

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
        """Trace a tuple, or a record of the source topic, through the running plan of a stream.

        ``values``: the fields of the tuple, by name. ``source``: the record, as ``topic-partition-offset``. ``query``:
        the id of a query whose verdict is explained. ``max_blocks``: the number of blocks whose constructs the answer
        lists; None means the daemon's default.
        """
        body = given(tuple=_tuple_of(values), source=source, stream=stream, query=query, max_blocks=max_blocks)
        return cast("Trace", self._connection.asked("POST", "/v1/trace", json=body))

    # -- the daemon

    def ready(self, *, timeout_s: float | None = None) -> Ready:
        """Return whether the daemon is ready, and the reason if it is not.

        ``timeout_s``: the timeout of this request, in seconds; None means the client's timeout.
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
        is overloaded, try again. Call ``on_unready`` once, after the first answer that the daemon is not ready, for
        example to check the token. An exception from ``on_unready`` ends the wait.
        """
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                # A suspended daemon process never answers, so the request must end when the wait ends.
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
        """Return the running plan of every stream, by the name of the stream."""
        answer = self._connection.asked("GET", "/v1/plan")
        return cast("Mapping[str, StreamPlan]", self._connection.field(answer, "streams", dict))

    def block(self, stream: str, number: int) -> Block:
        """Return the block ``number`` of a stream's running plan. The blocks are numbered from 0."""
        return cast("Block", self._connection.asked("GET", block_path(stream, number)))


def _tuple_of(values: object) -> Mapping[str, object] | None:
    return None if values is None else checked_mapping("tuple", values, '{"delay": 75}')


def _condition(replaces: bool) -> dict[str, str]:
    return {} if replaces else {"If-None-Match": "*"}
