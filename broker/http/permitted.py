"""What one caller sees and changes of the daemon: endpoints ask this, and nothing else of the daemon."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from asc.errors import AscError
from asc.plan.plan import Plan
from asc.predicate.normal_form import Predicate
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.errors import BrokerError, ForbiddenError
from broker.http.audited import audited
from broker.queries.change import Change, Outcome
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import unknown_query
from broker.queries.registrar import Registrar
from broker.stream.stream import Stream

_SEARCH_S = 0.25
_SEARCHED_AT_ONCE = 2_000


class Service(Protocol):
    """What the API needs of the daemon."""

    def readiness(self) -> str | None:
        """Why the daemon is not ready; None when it is."""

    def registrar(self) -> Registrar:
        """What changes and holds the standing queries; BrokerError before they are loaded."""

    def streams(self) -> Mapping[str, Stream]:
        """The streams by name; BrokerError before they are there."""

    def bootstrap_servers(self) -> str:
        """Where Kafka is; BrokerError before it is reached."""

    def security_protocol(self) -> str:
        """How Kafka is spoken to, as ``SASL_SSL``."""


class Permitted:
    """The daemon within the scope of one caller.

    Invariant: what it gives holds nothing of queries and streams outside the scope, and every change passes
    :meth:`apply`, which refuses what is outside of it and writes down who made it.
    """

    def __init__(self, service: Service, scope: Scope, host: str, audit: Audit) -> None:
        self._service = service
        self._scope = scope
        self._host = host
        self._audit = audit

    def apply(self, changes: Sequence[Change | AscError], verb: str, *, keep_going: bool = False) -> Outcome:
        """Make changes in one step (:meth:`Registrar.apply`), and have the audit say so under a ``verb``."""
        registrar, who = self._service.registrar(), f"{self._scope.name}@{self._host}"
        try:
            outcome = registrar.apply(changes, keep_going=keep_going, scope=self._scope)
        except Exception as error:
            self._audit.write(who, audited(verb, changes, error))
            raise
        self._audit.write(who, audited(verb, changes, outcome))
        return outcome

    @property
    def is_loaded(self) -> bool:
        """Whether there are streams and queries to look at by now."""
        try:
            self._service.registrar()
            self._service.streams()
        except BrokerError:
            return False
        return True

    @property
    def may_change(self) -> bool:
        """Whether it may change anything at all."""
        return not self._scope.read_only

    @property
    def name(self) -> str:
        """Whose scope it is."""
        return self._scope.name

    def note(self, verb: str, entry: Mapping[str, object]) -> None:
        """Have the audit say what was done that changes no query."""
        self._audit.write(f"{self._scope.name}@{self._host}", [{"verb": verb, **entry}])

    def rehearsed(self, changes: Sequence[Change | AscError], *, keep_going: bool = False) -> Outcome:
        """What would become of changes (:meth:`Registrar.rehearsed`): nothing is changed, so the audit says nothing."""
        return self._service.registrar().rehearsed(changes, keep_going=keep_going, scope=self._scope)

    def stream_of(self, name: str | None) -> Stream:
        """The stream that is meant: see :meth:`Registrar.stream_of`."""
        return self._service.registrar().stream_of(name, self._scope)

    def stream_name(self, given: str | None) -> str:
        """The name of the stream that a query to be registered is of: as it is given, for it is :meth:`apply` that
        judges it and has the audit say so, or that of the only one; QueryError where there are several.
        """
        return given if given is not None else self.stream_of(None).name

    def readiness(self) -> str | None:
        """Why the daemon is not ready; None when it is."""
        return self._service.readiness()

    def streams(self) -> dict[str, Stream]:
        """The streams that are seen, by name."""
        own = self._scope.streams
        return {name: one for name, one in self._service.streams().items() if own is None or name in own}

    def get(self, query_id: str) -> RegisteredQuery:
        """A standing query; ForbiddenError for an id that is never seen, UnknownQueryError."""
        self._scope.check_id(query_id)
        query = self._service.registrar().standing.get(query_id)
        if not self._scope.owns(query.id, query.stream):
            raise unknown_query(query_id)
        return query

    def page(
        self, prefix: str, label: tuple[str, str] | None, stream: str | None, after: str | None, limit: int
    ) -> tuple[list[RegisteredQuery], bool]:
        """A page of the queries that are seen: see :meth:`QuerySet.page`."""
        if stream is not None:
            self.stream_of(stream)
        own = self._scope.id_prefix
        if not own.startswith(prefix) and not prefix.startswith(own):
            return [], False
        return self._service.registrar().standing.page(
            prefix=max(prefix, own, key=len),
            label=label,
            streams=self._scope.streams if stream is None else [stream],
            after=after,
            limit=limit,
        )

    def search(  # noqa: PLR0917
        self, text: str, prefix: str, label: tuple[str, str] | None, stream: str | None, after: str | None, limit: int
    ) -> tuple[list[RegisteredQuery], str | None]:
        """The queries of a page that have a text in their predicate or id, whatever its case; and the id after which to
        go on, None where there are no more. Looks at so many queries at most that it takes a fraction of a second.
        """
        found: list[RegisteredQuery] = []
        wanted, until_s = text.casefold(), time.monotonic() + _SEARCH_S
        while True:
            looked_at, more = self.page(prefix, label, stream, after, _SEARCHED_AT_ONCE if wanted else limit)
            # One look at all texts together: most have none.
            together = "\0".join(f"{query.where}\0{query.id}" for query in looked_at).casefold() if wanted else ""
            if looked_at:
                after = looked_at[-1].id
            for query in looked_at if wanted in together else ():
                after = query.id
                if not wanted or wanted in query.where.casefold() or wanted in query.id.casefold():
                    found.append(query)
                    if len(found) == limit:
                        return found, after if more or query is not looked_at[-1] else None
            if not more:
                return found, None
            if time.monotonic() > until_s:
                return found, after

    def unserved(self, query: RegisteredQuery) -> str | None:
        """Why a query that is seen is not served; None where it is."""
        return self._service.registrar().standing.unserved.get(query.id)

    def counts(self, stream: str) -> tuple[int, int]:
        """How many queries of a stream are seen, and how many of these are not served."""
        standing = self._service.registrar().standing
        unserved = (standing.get(query_id) for query_id in standing.unserved)
        count = standing.count(self._scope.id_prefix, [stream])
        return count, sum(1 for one in unserved if one.stream == stream and self._scope.owns(one.id, one.stream))

    def not_served(self) -> dict[str, int]:
        """By stream, how many of the queries that are seen no plan can hold; streams without such are missing."""
        standing = self._service.registrar().standing
        unserved = (standing.get(query_id) for query_id in standing.unserved)
        return Counter(one.stream for one in unserved if self._scope.owns(one.id, one.stream))

    def plan_of(self, query: RegisteredQuery) -> Plan:
        """The running plan that holds a query: see :meth:`Registrar.plan_of`."""
        return self._service.registrar().plan_of(query)

    def check_columns(self, predicate: Predicate) -> None:
        """ForbiddenError for a predicate that could not be registered for the columns that it names."""
        self._scope.check_columns(predicate)

    @property
    def sees_all(self) -> bool:
        """Whether all queries of all streams are seen."""
        return self._scope.sees_all

    @property
    def sees_whole_streams(self) -> bool:
        """Whether what is said of a stream's plan as a whole tells of no queries that are not seen."""
        return self._scope.sees_whole_streams

    def check_sees_whole_streams(self, what: str, remedy: str) -> None:
        """ForbiddenError for what tells of the other queries of a stream, where these are not seen."""
        if not self.sees_whole_streams:
            remedy = f"tells of queries that token '{self._scope.name}' does not see: {remedy}"
            raise ForbiddenError(what, "", remedy)

    @property
    def reads_whole_records(self) -> bool:
        """Whether any column of a record may be shown."""
        return self._scope.columns is None

    def check_runs_predicates(self) -> None:
        """ForbiddenError for one who may register none, and so have Spark evaluate none."""
        self._scope.check_change()

    def check_sees_records(self, what: str, remedy: str) -> None:
        """ForbiddenError for one who may not name all columns: records have them all."""
        if self._scope.columns is not None:
            remedy = f"have columns that token '{self._scope.name}' may not name: {remedy}"
            raise ForbiddenError(what, "", remedy)

    def loads(self) -> list[dict[str, Any]]:
        """The changes under way; of one who does not see all, those by the same token."""
        return self._service.registrar().loads.shown(None if self._scope.sees_all else self._scope.name)

    def bootstrap_servers(self) -> str:
        """Where Kafka is."""
        return self._service.bootstrap_servers()

    def security_protocol(self) -> str:
        """How Kafka is spoken to."""
        return self._service.security_protocol()
