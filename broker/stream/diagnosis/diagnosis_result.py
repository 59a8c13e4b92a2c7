"""The result of a diagnosis: the causes that a stream cannot go on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class DiagnosisResult:
    """The causes that end the batches of a stream, each with the reason that the queries are parked with.

    ``expressions`` by their SQL text, ``topics``: destinations by name, ``conditions`` over two objects as their
    queries have them. ``queries`` by id, of the version that plans of ``version`` have.
    """

    expressions: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    queries: Mapping[str, str] = field(default_factory=dict)
    version: int = 0
