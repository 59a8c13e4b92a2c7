"""Changes of the standing queries, and their outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from asc.errors import AscError
from broker.plans.offsets import Offsets
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, slots=True)
class Put:
    """The registration of a query, in place of the one of the same id; without ``replaces``, only of a new id."""

    query: RegisteredQuery
    replaces: bool = True

    @property
    def query_id(self) -> str:
        return self.query.id


@dataclass(frozen=True, slots=True)
class Alter:
    """The change of the query that an id has at that time, whoever changed it meanwhile; None where it has none.

    Without ``replaces``, only where it has none.
    """

    query_id: str
    altered: Callable[[RegisteredQuery | None], RegisteredQuery]
    replaces: bool = True


@dataclass(frozen=True, slots=True)
class Remove:
    """The removal of a standing query."""

    query_id: str


Change = Put | Alter | Remove

Became = Literal["registered", "replaced", "unchanged"]
"""The effect of a registration: a new id, another query replaced, or an equal query already registered."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A query that was registered, the first offsets by source partition that it sees, and warnings.

    One that is unchanged keeps its version: nothing was written for it. ``previous``: the query that it replaced.
    """

    query: RegisteredQuery
    effective_offsets: Offsets
    warnings: tuple[str, ...]
    became: Became
    previous: RegisteredQuery | None = None

    @property
    def is_new(self) -> bool:
        """Return whether there was no query of its id."""
        return self.became == "registered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of changes, by their position: made, all in one step at ``version``, or refused with the reason.

    ``version`` is None where nothing was made; where all queries were unchanged, it is that of the standing queries.
    ``effective_offsets``: by stream, the first ones that the change holds for.
    """

    version: int | None = None
    registered: Mapping[int, Registered] = field(default_factory=dict)
    removed: Mapping[int, RegisteredQuery] = field(default_factory=dict)
    refused: Mapping[int, AscError] = field(default_factory=dict)
    effective_offsets: Mapping[str, Offsets] = field(default_factory=dict)

    def raised(self) -> Outcome:
        """Return the outcome; raise the first refusal where a change was refused."""
        if self.refused:
            raise self.refused[min(self.refused)]
        return self
