"""Destinations of the handoff ``feed``: the track, the selection and the parameters of a query, as plans store them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from asc.errors import PlanError
from asc.operators.feed import QuerySettings
from asc.plan.destination import NO_DESTINATION, NO_TARGET, Destination
from asc.plan.plan import Plan
from asc.predicate.normal_form.disjunctive_form import Conjunct, Predicate

FORM = 2
"""The form in which plans store destinations of the feed. A plan with another form is compiled anew from the
registry.
"""


NO_KEY = "CAST(NULL AS STRING)"
"""The key of a track whose observations belong to no object."""


@dataclass(frozen=True, slots=True)
class Track:
    """The expressions of a record that a kind reads. Queries with equal expressions share a track.

    ``op``: the tag of the kind. The following are Spark SQL: ``key`` (text; NO_KEY if there is no key), ``time_us``
    (microseconds), ``position`` (doubles) and ``carried`` (the values that conditions read, by name). If the kind reads
    no position, ``position`` is empty; if conditions read no values, ``carried`` is None. ``observes_all``: the track
    has an observation of each decoded record, accepted or not. ``by_key``: the object's key determines the part of the
    feed; otherwise all observations of the track are in one part. ``name``: a hash that is unique among the tracks of
    all kinds.
    """

    name: str
    op: str
    key: str
    time_us: str
    position: tuple[str, ...]
    carried: tuple[tuple[str, str], ...] | None
    observes_all: bool
    by_key: bool

    @property
    def time_name(self) -> str:
        """Return the name of the time expression. Tracks with the same name share a watermark."""
        return hashed([self.time_us])

    def plain(self) -> list[Any]:
        """Return the track as JSON."""
        carried = None if self.carried is None else [list(pair) for pair in self.carried]
        position = list(self.position)
        return [self.name, self.op, self.key, self.time_us, position, carried, self.observes_all, self.by_key]

    @staticmethod
    def of_plain(plain: Sequence[Any]) -> Track:
        """Return the track in the JSON of :meth:`plain`."""
        name, op, key, time_us, position, carried, observes_all, by_key = plain
        own = None if carried is None else tuple((column, sql) for column, sql in carried)
        return Track(name, op, key, time_us, tuple(position), own, observes_all, by_key)


@dataclass(frozen=True, slots=True)
class FeedDestination:
    """A query of a kind with the handoff ``feed``, in a plan.

    It contains all that the kind needs to know about the query, so a replayed batch uses the definitions of its plan.
    ``conditions``: the conditions that the feed reader evaluates itself (:mod:`broker.operators.condition_watch`).
    """

    track: Track
    query: QuerySettings
    conditions: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        """Return the tag of the query's kind."""
        return self.track.op

    @property
    def id(self) -> str:
        """Return the id of the query."""
        return self.query.id

    @property
    def selection(self) -> str:
        """Return the name of the query's selection, the set of records that the query accepts. A join has a selection
        for each shape; the names of these selections begin with this name.
        """
        return self.query.selections[0]

    def in_plan(self) -> Destination:
        """Return the destination in the form that plans store."""
        plain = {"track": self.track.plain(), "query": self.query.plain(), "conditions": list(self.conditions)}
        names = (self.track.name, self.selection)
        return Destination(self.query.id, self.track.op, FORM, *names, json.dumps(plain, separators=(",", ":")))

    @staticmethod
    def of(destination: Destination) -> FeedDestination:
        """Return the query in a plan's destination. Raise PlanError if the destination has another form."""
        if destination.form != FORM:
            remedy = f"another version wrote it: {FORM} is known"
            raise PlanError(f"form of the destination of query '{destination.name}'", destination.form, remedy)
        plain = json.loads(destination.definition)
        track, query = Track.of_plain(plain["track"]), QuerySettings.of_plain(plain["query"])
        return FeedDestination(track, query, tuple(plain["conditions"]))


def destinations_in(plan: Plan) -> list[FeedDestination]:
    """Return the queries of a plan whose records go to the feed. A join occurs once, whatever the number of its
    shapes.
    """
    return [FeedDestination.of(own) for own in plan.destinations.used() if own.target != NO_TARGET]


def routed_topics(plan: Plan) -> set[str]:
    """Return the topics that the job of the stream writes to: the topics of queries without an operator.

    Cost: a pass over the topics, and if some queries have an operator, a pass over the queries.
    """
    if not plan.destinations.entries:
        return set(plan.topics.unique().to_pylist())
    routed = np.unique(plan.topic_of[plan.destinations.of_query == NO_DESTINATION])
    return set(plan.topic_names.take(routed).to_pylist())


def selection_of(predicate: Predicate) -> str:
    """Return the name of a predicate's selection, the set of records that the predicate accepts. Predicates with the
    same normal form share a name.
    """
    conjuncts = sorted(map(_conjunct_text, predicate.conjuncts))
    return hashed(["where", predicate.match_all, conjuncts], digest_bytes=8)


def selection_of_join(where: str, layer: str) -> str:
    """Return the name with which the names of a join's selections begin. A selection is the set of records that the
    join accepts for one shape. Joins with the same text over the same layer share a name.
    """
    return hashed(["join", where, layer], digest_bytes=8)


def _conjunct_text(conjunct: Conjunct) -> list[str]:
    found = []
    for attribute, constraint in conjunct:
        pattern = None if attribute.like is None else attribute.like.key
        found.append(repr((attribute.sql, str(attribute.type), pattern, constraint.intervals, constraint.null)))
    return sorted(found)


def hashed(plain: Sequence[Any], digest_bytes: int = 6) -> str:
    """Return the hash of JSON values, in hexadecimal digits."""
    return hashlib.blake2b(json.dumps(plain).encode(), digest_size=digest_bytes).hexdigest()
