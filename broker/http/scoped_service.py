"""The daemon restricted to the scope of one caller. Endpoints access queries, streams and changes only through this
interface.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from asc.errors import AscError
from asc.plan.plan import Plan
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.predicate.spatial.named_shapes import named_shapes
from asc.spatial.feature import Feature
from asc.spatial.layer import Layer
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.cancellation import Cancellation
from broker.config.layer_config import LayerConfig
from broker.config.sections import LimitsConfig
from broker.errors import BrokerError, ForbiddenError, NotThereError, QueryError
from broker.http.audited import audited
from broker.layers.layers import check_layer
from broker.layers.stored_layer import StoredLayer
from broker.matching.plan_ids import member_count, members_in, registered_id, shape_of
from broker.operators.daemon_part import DaemonPart
from broker.operators.kinds import check_name, kind_of
from broker.plans.offsets import Offsets
from broker.queries.change import Change, Outcome
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import unknown_query
from broker.queries.registrar import Registrar
from broker.queries.validated_query import Members
from broker.stream.stream import Stream

_SEARCH_S = 0.25
_SEARCHED_AT_ONCE = 2_000


class Service(Protocol):
    """The interface of the daemon that the API uses."""

    def readiness(self) -> str | None:
        """Return the reason why the daemon is not ready. Return None if it is ready."""

    def registrar(self) -> Registrar:
        """Return the registrar, which stores and changes the standing queries. Raise BrokerError before the queries are
        loaded.
        """

    def streams(self) -> Mapping[str, Stream]:
        """Return the streams by name. Raise BrokerError before the streams exist."""

    def daemon_part(self, kind: str) -> DaemonPart:
        """Return the state of an operator kind that all streams share, such as the look-ups of cubes. Raise BrokerError
        before it is loaded.
        """

    def bootstrap_servers(self) -> str:
        """Return the bootstrap addresses of the Kafka cluster, separated by commas. Raise BrokerError before Kafka is
        connected.
        """

    def security_protocol(self) -> str:
        """Return the security protocol of Kafka, for example ``SASL_SSL``."""


class ScopedService:
    """The daemon as one caller may use it.

    ``scope``: the queries, streams and columns that the caller's token permits. ``host``: the caller's host, for the
    audit.

    Invariant: answers contain nothing about queries and streams outside the caller's scope. Every change passes through
    :meth:`apply`, which refuses changes outside the scope and audits all changes.
    """

    def __init__(
        self, service: Service, scope: Scope, host: str, audit: Audit, cancellation: Cancellation | None = None
    ) -> None:
        self._service = service
        self._scope = scope
        self._host = host
        self._audit = audit
        self.cancellation = cancellation or Cancellation()
        """The cancellation of the request's work, for example because the client has disconnected. Long work checks it.
        """

    def apply(self, changes: Sequence[Change | AscError], verb: str, *, keep_going: bool = False) -> Outcome:
        """Apply changes in one step (:meth:`Registrar.apply`), and record each change in the audit. ``verb``: the
        action in the audit, such as ``register``.
        """
        registrar, who = self._service.registrar(), self.who
        try:
            outcome = registrar.apply(changes, keep_going=keep_going, scope=self._scope, cancellation=self.cancellation)
        except Exception as error:
            self._audit.write(who, audited(verb, changes, error))
            raise
        self._audit.write(who, audited(verb, changes, outcome))
        return outcome

    @property
    def is_loaded(self) -> bool:
        """Return whether the daemon has loaded its streams and queries."""
        try:
            self._service.registrar()
            self._service.streams()
        except BrokerError:
            return False
        return True

    @property
    def may_change(self) -> bool:
        """Return whether the caller's token permits changes, which a read-only token does not."""
        return not self._scope.read_only

    def check_may_change(self) -> None:
        """Raise ForbiddenError if the caller's token is read-only."""
        self._scope.check_change()

    @property
    def caller(self) -> str:
        """Return the name of the caller's token. The name does not depend on the host from which the request comes."""
        return self._scope.name

    @property
    def who(self) -> str:
        """Return the caller as the audit records it: the token's name and the host."""
        return f"{self._scope.name}@{self._host}"

    def note(self, verb: str, entry: Mapping[str, object]) -> None:
        """Record an action that changes no query in the audit. ``entry``: further fields of the audit's line."""
        self._audit.write(self.who, [{"verb": verb, **entry}])

    def rehearsed(self, changes: Sequence[Change | AscError], *, keep_going: bool = False) -> Outcome:
        """Return the outcome that :meth:`apply` would have (:meth:`Registrar.rehearsed`). Nothing is changed or
        audited.
        """
        registrar = self._service.registrar()
        return registrar.rehearsed(changes, keep_going=keep_going, scope=self._scope, cancellation=self.cancellation)

    def stream_of(self, name: str | None) -> Stream:
        """Return the stream with a name. For None, return the only stream that the caller sees: see
        :meth:`Registrar.stream_of`.
        """
        return self._service.registrar().stream_of(name, self._scope)

    def stream_name(self, name: str | None) -> str:
        """Return the name of the stream for a query to be registered. Raise QueryError for None if there are several
        streams.

        A name that is given is returned unchanged, because :meth:`apply` validates and audits it. For None, the name of
        the only stream is returned.
        """
        return name if name is not None else self.stream_of(None).name

    def readiness(self) -> str | None:
        """Return the reason why the daemon is not ready. Return None if it is ready."""
        return self._service.readiness()

    def streams(self) -> dict[str, Stream]:
        """Return the streams that the caller sees, by name."""
        own = self._scope.streams
        return {name: one for name, one in self._service.streams().items() if own is None or name in own}

    def get(self, query_id: str) -> RegisteredQuery:
        """Return a standing query. Raise ForbiddenError for an id that the caller can never see, and UnknownQueryError
        if the id is not registered.
        """
        self._scope.check_id(query_id)
        query = self._service.registrar().standing.get(query_id)
        if not self._scope.owns(query.id, query.stream):
            raise unknown_query(query_id)
        return query

    def seen(self, query_id: str) -> RegisteredQuery | None:
        """Return the standing query with an id. Return None if the caller sees no such query."""
        query = self._service.registrar().standing.queries.get(query_id)
        return query if query is not None and self._scope.owns(query.id, query.stream) else None

    def planned(self, query_id: str) -> tuple[RegisteredQuery, str | None]:
        """Return the standing query with an id, and None. For a join, the id must also name a shape, as in
        ``over/CHE``. Then return the join and the id of the shape, because plans have a predicate for each shape.

        Raise the errors of :meth:`get`, and QueryError for a join without a shape.
        """
        standing = self._service.registrar().standing
        join_id = registered_id(query_id)
        if query_id not in standing and join_id in standing and (query := self.get(join_id)).join is not None:
            return query, shape_of(query_id, join_id)
        query = self.get(query_id)
        if query.join is not None:
            remedy = f"is a join, of which plans hold a query a shape: name one as well, as {query.id}/SHAPE"
            raise QueryError("query", query.id, remedy)
        return query, None

    def page(
        self,
        prefix: str,
        label: tuple[str, str] | None,
        stream: str | None,
        after: str | None,
        limit: int,
        *,
        operator: str | None = None,
        layer: str | None = None,
    ) -> tuple[list[RegisteredQuery], bool]:
        """Return a page of the queries that the caller sees and that satisfy all filters, and whether more follow: see
        :meth:`QuerySet.page`. None for a filter means all. ``after``: the id of the last query on the preceding page.
        ``limit``: the most queries of the page.

        Raise QueryError for an unknown stream, operator or layer.
        """
        if stream is not None:
            self.stream_of(stream)
        if operator is not None:
            check_name(operator)
        if layer is not None:
            check_layer(layer, self.layers)
        beginning = self.beginning(prefix)
        if beginning is None:
            return [], False
        return self._service.registrar().standing.page(
            prefix=beginning,
            label=label,
            streams=self._scope.streams if stream is None else [stream],
            after=after,
            operator=operator,
            layer=layer,
            limit=limit,
        )

    def search(  # noqa: PLR0917
        self, text: str, prefix: str, label: tuple[str, str] | None, stream: str | None, after: str | None, limit: int
    ) -> tuple[list[RegisteredQuery], str | None]:
        """Return a page of the queries that satisfy the filters of :meth:`page` and whose predicate or id contains
        ``text``. Upper and lower case are not distinguished.

        Also return the id after which the next page begins, or None if there are no more queries. The search inspects a
        bounded number of queries, so that it takes a fraction of a second.
        """
        page: list[RegisteredQuery] = []
        wanted, until_s = text.casefold(), time.monotonic() + _SEARCH_S
        while True:
            looked_at, more = self.page(prefix, label, stream, after, _SEARCHED_AT_ONCE if wanted else limit)
            # First search the joined texts of all queries at once, because most groups of queries have no match.
            together = "\0".join(f"{query.where}\0{query.id}" for query in looked_at).casefold() if wanted else ""
            if looked_at:
                after = looked_at[-1].id
            for query in looked_at if wanted in together else ():
                after = query.id
                if not wanted or wanted in query.where.casefold() or wanted in query.id.casefold():
                    page.append(query)
                    if len(page) == limit:
                        return page, after if more or query is not looked_at[-1] else None
            if not more:
                return page, None
            if time.monotonic() > until_s:
                return page, after

    def count(self, prefix: str, label: tuple[str, str] | None, stream: str | None) -> int:
        """Return the number of all queries that :meth:`page` returns for the same filters, on all pages together."""
        beginning = self.beginning(prefix)
        if beginning is None:
            return 0
        streams = self._scope.streams if stream is None else [self.stream_of(stream).name]
        return self._service.registrar().standing.count(beginning, streams, label=label)

    def beginning(self, prefix: str) -> str | None:
        """Return the prefix that all ids have which begin with ``prefix`` and are in the caller's scope: the longer one
        of ``prefix`` and the scope's prefix. Return None if no id can have both prefixes.
        """
        own = self._scope.id_prefix
        is_within = own.startswith(prefix) or prefix.startswith(own)
        return max(prefix, own, key=len) if is_within else None

    def unserved(self, query: RegisteredQuery) -> str | None:
        """Return the reason why a query is not served. Return None if it is served.

        The reason for a parked query may show values and times of records. So a caller that may not name all columns of
        the query gets a reason without them.
        """
        reason = self._service.registrar().standing.unserved.get(query.id)
        if reason is None or self._scope.columns is None:
            return reason
        stream = self._service.streams().get(query.stream)
        if stream is None or stream.parked.reason(query.id, query.version) is None:
            return reason
        try:
            self.check_reads(query)
        except AscError:
            remedy = "register it anew to try again, or ask with a token that may"
            return f"is parked; the reason may show columns that token '{self._scope.name}' may not name: {remedy}"
        return reason

    @property
    def limits(self) -> LimitsConfig:
        """Return the configured limits."""
        return self._service.registrar().limits

    @property
    def layers(self) -> Mapping[str, LayerConfig]:
        """Return the configured layers by name."""
        return self._service.registrar().layers

    def layer(self, name: str) -> StoredLayer:
        """Return the current layer with a name. Raise QueryError if it is not configured."""
        check_layer(name, self.layers)
        return self._service.registrar().standing.layers[name]

    def check_writes_layer(self, name: str) -> None:
        """Raise ForbiddenError if the caller may change nothing, or does not see all queries. All callers share the
        layers, so a caller that sees only some queries must not change them.
        """
        self.check_writes_shared("layer", name)

    def check_growth(self, name: str, rows: Mapping[str, Feature]) -> None:
        """Raise QueryError if new rows of a layer would make a registered join too expensive
        (:meth:`Registrar.check_growth`).

        Raise also the errors of :meth:`check_writes_layer`.
        """
        self.check_writes_layer(name)
        self._service.registrar().check_growth(name, rows, self.cancellation)

    def rehearsed_layer(self, name: str) -> tuple[int, Mapping[str, Offsets]]:
        """Return a result in the form of :meth:`write_layer` without writing: the current version, and no offsets.
        Raise the errors of :meth:`check_writes_layer`.
        """
        self.check_writes_layer(name)
        return self._service.registrar().standing.version, {}

    def write_layer(
        self, name: str, puts: Mapping[str, bytes], removes: Collection[str]
    ) -> tuple[int, Mapping[str, Offsets]]:
        """Write rows of a layer (:meth:`Registrar.write_layer`), and audit this. Return the version, and for each
        stream the effective offsets of the rows.

        Raise the errors of :meth:`check_writes_layer`.
        """
        self.check_writes_layer(name)
        registrar = self._service.registrar()
        offsets = registrar.write_layer(name, puts, removes)
        self.note("layer", {"layer": name, "put": len(puts), "removed": len(removes)})
        return registrar.standing.version, offsets

    def daemon_part(self, kind: str) -> DaemonPart:
        """Return the state of an operator kind that all streams share, such as the look-ups of cubes. The state
        contains no record, so every caller may read it.
        """
        return self._service.daemon_part(kind)

    def check_writes_shared(self, subject: str, name: str) -> None:
        """Raise ForbiddenError if the caller may change nothing, or does not see all queries. It is for a change of an
        object that all callers share. ``subject``: the kind of object, such as ``look-up``, for the error. ``name``:
        its name.
        """
        self._scope.check_change()
        if not self._scope.sees_all:
            remedy = f"is everybody's: token '{self._scope.name}' does not see all queries, use one that does"
            raise ForbiddenError(subject, name[:200], remedy)

    def registered(self, operator: str) -> Iterator[RegisteredQuery]:
        """Yield all registered queries whose operator is of the kind ``operator``. Raise ForbiddenError if the caller
        does not see all queries.
        """
        self.check_sees_whole_streams("queries", "use a token without id_prefix")
        for query in self._service.registrar().standing.walk(operator=operator):
            if self._scope.owns(query.id, query.stream):
                yield query

    @property
    def shapes(self) -> Mapping[str, Layer]:
        """Return the layers that predicates may name, by name."""
        return self._service.registrar().standing.shapes

    def predicate_of(self, query: RegisteredQuery, stream: Stream, shape_id: str | None) -> Predicate:
        """Return the predicate of a standing query with the current shapes of the layers; for a join, the predicate for
        the shape ``shape_id``. A shape that the predicate names and its layer no longer has is NULL.

        Raise NotThereError if the layer of a join has no shape ``shape_id``.
        """
        if query.join is None:
            return stream.analyser.normalise(query.where, self.shapes, may_wait=True)
        layer = query.join.layer
        row = self.shapes[layer].features.get(shape_id or "")
        if row is None:
            raise NotThereError("shape", f"{layer}/{shape_id}"[:300], "its layer has none of that id")
        return stream.analyser.join(query.where, layer, self.shapes, may_wait=True).of(row)

    def pending_shapes(self, query: RegisteredQuery) -> list[str]:
        """Return the shapes, as ``layer/id``, that the predicate of a query names and that their layers do not have."""
        shapes = self.shapes
        missing = ((name, own) for name, own in named_shapes(query.where) if name in shapes)
        return sorted(f"{name}/{own}" for name, own in missing if shapes[name].shape(own) is None)

    def shape_counts(self, query: RegisteredQuery) -> tuple[int | None, int | None]:
        """Return the number of shapes of a served join that the plan contains, and the number of shapes that the join
        excludes.

        Both are None if the query is no join or is not served.
        """
        rows, plan = self._planned(query)
        if rows is None or plan is None:
            return None, None
        served = member_count(plan, query.id)
        return served, max(0, len(rows) - served)

    def excluded_shapes(self, query: RegisteredQuery, limit: int) -> dict[str, str]:
        """Return the shapes that a join excludes, at most ``limit``: the reason of each by the id of the shape, in the
        order of ids.
        """
        rows, plan = self._planned(query)
        if rows is None or plan is None or query.join is None:
            return {}
        has = {shape_of(plan_id, query.id) for plan_id in members_in(plan, query.id)}
        missing = dict(islice(((shape_id, rows[shape_id]) for shape_id in rows if shape_id not in has), limit))
        stream = self._service.streams()[query.stream]
        join = stream.analyser.join(query.where, query.join.layer, self.shapes, may_wait=True)
        return {
            shape_id: str(error) for shape_id, error in Members.of(join, missing, self.cancellation).refused.items()
        }

    def _planned(self, query: RegisteredQuery) -> tuple[Mapping[str, Feature] | None, Plan | None]:
        """Return the rows of a join's layer, and the plan that contains the join's predicates. Return None for both if
        the query is no join or is not served.
        """
        registrar = self._service.registrar()
        if query.join is None or registrar.standing.planned_on(query.id) is None:
            return None, None
        return registrar.standing.shapes[query.join.layer].features, registrar.plan_of(query)

    def counts(self, stream: str) -> tuple[int, int]:
        """Return the number of a stream's queries that the caller sees, and the number of these that are not served."""
        standing, own = self._service.registrar().standing, self._scope
        if own.streams is not None and stream not in own.streams:
            return 0, 0
        return standing.count(own.id_prefix, [stream]), standing.unserved_count(own.id_prefix, stream)

    def not_served(self) -> dict[str, int]:
        """Return the number of visible queries that are not served, by stream. A stream without such queries is
        omitted.
        """
        # All queries of a stream that is no longer configured are not served.
        found = {stream: self.counts(stream)[1] for stream in self._service.registrar().standing.counts()}
        return {stream: count for stream, count in found.items() if count}

    def plan_of(self, query: RegisteredQuery) -> Plan:
        """Return the running plan that contains a query: see :meth:`Registrar.plan_of`. Raise QueryError if the query
        is not served; the error has the reason of :meth:`unserved`.
        """
        reason = None if query.paused else self.unserved(query)
        if reason is not None:
            raise QueryError("query", query.id, f"is not served: {reason}")
        return self._service.registrar().plan_of(query)

    def check_columns(self, predicate: Predicate) -> None:
        """Raise ForbiddenError if a predicate names a column that the caller may not name."""
        self._scope.check_columns(predicate)

    def check_reads(self, query: RegisteredQuery) -> None:
        """Raise ForbiddenError if the caller may not name all columns that a query and its operator read."""
        if self._scope.columns is None:
            return
        stream = self.stream_of(query.stream)
        self.check_columns(self.predicate_of(query, stream, None))
        if query.operator is not None:
            for expression in kind_of(query.operator).read(query.operator, stream.analyser, patiently=True).all:
                self.check_columns(expression)

    @property
    def sees_all(self) -> bool:
        """Return whether the caller sees all queries of all streams."""
        return self._scope.sees_all

    @property
    def sees_whole_streams(self) -> bool:
        """Return whether the caller sees all queries of each visible stream. Then the caller may see facts about the
        whole plan of a stream.
        """
        return self._scope.sees_whole_streams

    def check_sees_whole_streams(self, what: str, remedy: str) -> None:
        """Raise ForbiddenError if the caller does not see all queries of each visible stream, because facts about a
        whole stream would reveal the other queries. ``what``: the refused subject, for the error. ``remedy``: the
        advice in the error.
        """
        if not self.sees_whole_streams:
            remedy = f"tells of queries that token '{self._scope.name}' does not see: {remedy}"
            raise ForbiddenError(what, None, remedy)

    @property
    def reads_whole_records(self) -> bool:
        """Return whether the caller may read all columns of a record."""
        return self._scope.columns is None

    def check_replays(self, topic: str) -> None:
        """Raise ForbiddenError if the caller may not send dead letters to a source topic again.

        Dead letters are whole records, and sending one to the source topic is a delivery.
        """
        self._scope.check_change()
        self.check_sees_whole_streams("dead letters", "use a token without id_prefix")
        self.check_sees_records("dead letters", "use a token without columns")
        self._scope.check_topic(topic)

    def may_replay(self, topic: str) -> bool:
        """Return True if :meth:`check_replays` raises no error for the topic."""
        try:
            self.check_replays(topic)
        except ForbiddenError:
            return False
        return True

    def check_runs_predicates(self) -> None:
        """Raise ForbiddenError if the caller may register no query. Spark evaluates a predicate only for a caller that
        may register queries.
        """
        self._scope.check_change()

    def check_sees_records(self, what: str, remedy: str) -> None:
        """Raise ForbiddenError if the caller may not name all columns, because records have all columns."""
        if self._scope.columns is not None:
            remedy = f"have columns that token '{self._scope.name}' may not name: {remedy}"
            raise ForbiddenError(what, None, remedy)

    def loads(self) -> list[dict[str, Any]]:
        """Return the changes in progress, with their progress. A caller that does not see all queries gets only the
        changes that the same token requested.
        """
        return self._service.registrar().loads.shown(None if self._scope.sees_all else self._scope.name)

    def bootstrap_servers(self) -> str:
        """Return the bootstrap addresses of the Kafka cluster."""
        return self._service.bootstrap_servers()

    def security_protocol(self) -> str:
        """Return the security protocol of Kafka."""
        return self._service.security_protocol()
