"""What a stream cannot go on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What ends the batches of a stream: expressions by their SQL text, destination topics by name, conditions over two
    objects as their queries have them, each with the reason that the queries are parked with.
    """

    expressions: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
