"""The table of all kinds of operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from broker.errors import QueryError, UnknownOperatorError
from broker.operators.cube.kind import CUBE
from broker.operators.dbscan.kind import DBSCAN
from broker.operators.definition import Definition
from broker.operators.estimate_body import EstimateBody
from broker.operators.events.kind import EVENTS
from broker.operators.kept_body import KeptBody
from broker.operators.kind import FeedKind, FoldKind, OperatorKind
from broker.operators.near.kind import NEAR
from broker.operators.operator_fields import shown

if TYPE_CHECKING:
    from broker.kafka.cluster import KafkaCluster
    from broker.operators.daemon_part import DaemonPart

ROUTE = "route"
"""The name of the operator of a query without another operator: each accepted record goes to its topic."""

_COMPUTED = ("summary",)

OPERATORS: Mapping[str, OperatorKind[Any]] = {
    EVENTS.name: EVENTS,
    NEAR.name: NEAR,
    DBSCAN.name: DBSCAN,
    CUBE.name: CUBE,
}
"""The kinds of operators by name, in the order in which they are displayed."""


def definition_of(plain: Mapping[str, Any]) -> Definition | None:
    """Return the definition in the ``operator`` of a query, a JSON object in the form of the registry and of the API.
    Return None for ``route``.

    Raise QueryError if the definition is invalid.

    >>> definition_of({"name": "events", "key": "icao24"}).summary()
    'enter, exit, lost of icao24, lost after 3600 s'
    >>> definition_of({"name": "route"})
    """
    name = plain.get("name")
    if name == ROUTE:
        unknown = next((field for field in plain if field != "name"), None)
        if unknown is not None:
            raise QueryError("field operator", shown(unknown), f"is not known: {ROUTE} has no parameters")
        return None
    if name is None:
        raise UnknownOperatorError("operator", None, f"has no name: {_known()}")
    kind = OPERATORS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UnknownOperatorError("operator", shown(name), f"is not known: {_known()}")
    definition: Definition = kind.definition.parse(plain)
    return definition


def described(definition: Definition | None) -> dict[str, Any] | None:
    """Return the ``operator`` of a query as answers show it: its definition, and the fields computed from it. Return
    None if there is no definition.
    """
    return None if definition is None else {**definition.plain(), "summary": definition.summary()}


def settable(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``operator`` of an answer without computed fields, so that it can be registered again.

    >>> settable({"name": "events", "key": "icao24", "summary": "enter of icao24"})
    {'name': 'events', 'key': 'icao24'}
    """
    return {name: value for name, value in plain.items() if name not in _COMPUTED}


def name_of(definition: Definition | None) -> str:
    """Return the tag of a definition. Return ``route`` if there is no definition."""
    return ROUTE if definition is None else definition.name


def check_name(name: str) -> None:
    """Raise QueryError if no operator kind has the name."""
    if name != ROUTE and name not in OPERATORS:
        raise UnknownOperatorError("operator", shown(name), f"is not known: {_known()}")


def _known() -> str:
    return f"known are {', '.join((ROUTE, *OPERATORS))}"


def feed_kinds() -> Mapping[str, FeedKind[Any]]:
    """Return the kinds with the handoff ``feed``, by their tags."""
    return {name: cast("FeedKind[Any]", kind) for name, kind in OPERATORS.items() if kind.handoff == "feed"}


def fold_kinds() -> Mapping[str, FoldKind[Any]]:
    """Return the kinds with the handoff ``fold``, by their tags."""
    return {name: cast("FoldKind[Any]", kind) for name, kind in OPERATORS.items() if kind.handoff == "fold"}


def daemon_parts(cluster: KafkaCluster) -> dict[str, DaemonPart]:
    """Return new parts that live as long as the daemon, by the tags of the kinds that have such a part."""
    parts = {name: kind.daemon_part(cluster) for name, kind in OPERATORS.items()}
    return {name: part for name, part in parts.items() if part is not None}


def kept_bodies() -> Mapping[str, type[KeptBody]]:
    """Return the models of the states of queries in answers, by the tags of the kinds that have such a model."""
    return {name: kind.kept for name, kind in OPERATORS.items() if kind.kept is not None}


def estimate_bodies() -> Mapping[str, type[EstimateBody]]:
    """Return the models of estimates in answers, by the tags of the kinds with the handoff ``fold``."""
    return {name: kind.estimate_body for name, kind in fold_kinds().items()}


def kind_of(definition: Definition) -> OperatorKind[Any]:
    """Return the kind of a definition."""
    return OPERATORS[definition.name]
