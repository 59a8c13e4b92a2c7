"""Changes of the standing queries, and the outcome of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from asc.errors import AscError
from broker.plans.offsets import Offsets
from broker.queries.query import RegisteredQuery


@dataclass(frozen=True, slots=True)
class Put:
    """The registration of a query. It replaces a registered query with the same id; if ``replaces`` is false, the
    registration is refused if the id is registered.
    """

    query: RegisteredQuery
    replaces: bool = True

    @property
    def query_id(self) -> str:
        return self.query.id


@dataclass(frozen=True, slots=True)
class Alter:
    """A change that is computed when it is applied. ``altered`` returns the new query from the query that has the id
    then, or from None if the id is not registered.

    If ``replaces`` is false, the change is refused if the id is registered.
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
    """A query that was registered, with warnings. ``effective_offsets``: the first offset of each source partition at
    which the query holds.

    An unchanged query keeps its version, because nothing was written. ``previous``: the query that was replaced, or
    None.
    """

    query: RegisteredQuery
    effective_offsets: Offsets
    warnings: tuple[str, ...]
    became: Became
    previous: RegisteredQuery | None = None

    @property
    def is_new(self) -> bool:
        """Return whether no query had the id before."""
        return self.became == "registered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of changes by their index: applied in one step at ``version``, or refused with the reason.

    ``version`` is None if nothing was applied. If all queries were unchanged, it is the version of the standing
    queries. ``effective_offsets``: by stream, the first offsets for which the changes hold.
    """

    version: int | None = None
    registered: Mapping[int, Registered] = field(default_factory=dict)
    removed: Mapping[int, RegisteredQuery] = field(default_factory=dict)
    refused: Mapping[int, AscError] = field(default_factory=dict)
    effective_offsets: Mapping[str, Offsets] = field(default_factory=dict)

    def raised(self) -> Outcome:
        """Return the outcome. Raise the first refusal if a change was refused."""
        if self.refused:
            raise self.refused[min(self.refused)]
        return self
