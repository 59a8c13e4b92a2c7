"""Changes of the standing queries, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from asc.errors import AscError
from broker.plans.offsets import Offsets
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, slots=True)
class Put:
    """Register a query, in place of the one of the same id if there is one."""

    query: RegisteredQuery

    @property
    def query_id(self) -> str:
        return self.query.id


@dataclass(frozen=True, slots=True)
class Alter:
    """Make a query of what stands by then under an id, whoever changed it meanwhile; None where nothing stands."""

    query_id: str
    altered: Callable[[RegisteredQuery | None], RegisteredQuery]


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a standing query."""

    query_id: str


Change = Put | Alter | Remove


@dataclass(frozen=True, slots=True)
class Registered:
    """A query that was registered: as it stands, the first offsets by source partition that it sees, and warnings.

    ``is_new``: there was none of its id.
    """

    query: RegisteredQuery
    effective_offsets: Offsets
    warnings: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of changes, by their position: made, all in one step at ``version``, or refused with the reason.

    ``version`` is None where nothing was changed. ``effective_offsets``: by stream, the first ones that the change
    holds for.
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
