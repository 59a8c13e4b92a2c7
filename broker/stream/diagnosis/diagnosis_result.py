"""The result of a diagnosis: the causes of failing batches, for which queries are to be parked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FaultyCondition:
    """A condition that ends batches: the reason for which its queries are parked, and the version of the plan that ran
    when the fault was found.

    A query of a later version was registered anew to be tried again, so the finding does not concern it.
    """

    reason: str
    version: int


@dataclass(frozen=True, slots=True, eq=False)
class DiagnosisResult:
    """A finding: the causes that end the batches of a stream, each with the reason for which the queries that use it
    are parked.

    The keys of ``expressions`` are SQL texts, of ``topics`` the names of destination topics, and of ``conditions`` the
    texts of conditions over two objects, as the queries have them. The keys of ``queries`` are the ids of queries in
    the plan of ``version``.
    """

    expressions: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, FaultyCondition] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
