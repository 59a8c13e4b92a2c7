"""Changes of the standing queries, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from asc.errors import AscError
from broker.plans.offsets import Offsets
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, slots=True)
class Put:
    """Register a query, in place of the one of the same id if there is one; without ``replaces``, only if there is
    none.
    """

    query: RegisteredQuery
    replaces: bool = True

    @property
    def query_id(self) -> str:
        return self.query.id


@dataclass(frozen=True, slots=True)
class Alter:
    """Make a query of what stands by then under an id, whoever changed it meanwhile; None where nothing stands.
    Without ``replaces``, only where nothing stands.
    """

    query_id: str
    altered: Callable[[RegisteredQuery | None], RegisteredQuery]
    replaces: bool = True


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a standing query."""

    query_id: str


Change = Put | Alter | Remove

Became = Literal["registered", "replaced", "unchanged"]
"""What a registration was: of a new id, in place of another query, or of one that stands just so."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A query that was registered: as it stands, the first offsets by source partition that it sees, and warnings.

    One that is unchanged keeps the version it has: nothing was written for it. ``previous``: the one that it replaced.
    """

    query: RegisteredQuery
    effective_offsets: Offsets
    warnings: tuple[str, ...]
    became: Became
    previous: RegisteredQuery | None = None

    @property
    def is_new(self) -> bool:
        """Whether there was none of its id."""
        return self.became == "registered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of changes, by their position: made, all in one step at ``version``, or refused with the reason.

    ``version`` is None where nothing was made; where all that was made stood just so, it is that of what stands.
    ``effective_offsets``: by stream, the first ones that the change holds for.
    """

    version: int | None = None
    registered: Mapping[int, Registered] = field(default_factory=dict)
    removed: Mapping[int, RegisteredQuery] = field(default_factory=dict)
    refused: Mapping[int, AscError] = field(default_factory=dict)
    effective_offsets: Mapping[str, Offsets] = field(default_factory=dict)

    def raised(self) -> Outcome:
        """Itself; where a change was refused, the first refusal is raised."""
        if self.refused:
            raise self.refused[min(self.refused)]
        return self
