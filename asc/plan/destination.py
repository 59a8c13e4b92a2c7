"""Destinations: the operators that receive the accepted records of queries instead of a topic, stored as a table of a
plan.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.frozen import frozen_int32
from asc.plan.conjuncts import Integers

_Places = npt.NDArray[np.signedinteger[Any]]

NO_DESTINATION = -1
"""The entry in ``DestinationTable.of_query`` of a query without an operator, whose accepted records go to its topic.
"""

NO_TARGET = ""
"""The target of a destination whose accepted records stay in Spark's Python workers, which fold them into the state of
an operator.
"""


@dataclass(frozen=True, slots=True)
class Destination:
    """The operator of a query in a plan.

    ``name``: the id of the registered query. ``op``: the tag of the operator's kind. ``target``: the name under which
    accepted records leave Spark's Python workers; NO_TARGET if they stay there. ``selection``: a name that queries with
    the same accepted records share. ``form``: the version of the form of ``definition``. ``definition``: the text of a
    JSON object with all parameters of the query that the operator needs. The engine reads none of these fields.
    """

    name: str
    op: str
    form: int
    target: str
    selection: str
    definition: str

    def text(self) -> str:
        """Return the destination as JSON.

        >>> own = Destination("close", "near", 2, "5f1d", "a41c", "{}")
        >>> Destination.of_text(own.text()) == own
        True
        """
        return json.dumps(astuple(self), ensure_ascii=False, separators=(",", ":"))

    @staticmethod
    def of_text(text: str) -> Destination:
        """Return the destination that a JSON text describes. Raise ValueError or TypeError for other texts."""
        return Destination(*json.loads(text))


@dataclass(frozen=True, slots=True, eq=False)
class DestinationTable:
    """The destinations of a plan, and the destination of each query.

    ``entries``: the distinct destinations; some may belong to removed queries. ``of_query`` int32[queries]: for each
    ordinal the index of its destination in ``entries``, or NO_DESTINATION. Invariant: immutable; a change appends
    entries, so that pages of entries stay the same. Cost: 4 bytes per query, and the texts.
    """

    entries: tuple[Destination, ...]
    of_query: Integers

    @staticmethod
    def of(destinations: Sequence[Destination | None]) -> DestinationTable:
        """Return the table of some queries. ``destinations``: the destination of each query, in the order of the
        ordinals.
        """
        none = np.empty(0, dtype=np.int32)
        return DestinationTable((), none).with_queries(none, destinations)

    def with_queries(self, kept: _Places, added: Sequence[Destination | None]) -> DestinationTable:
        """Return the table of the queries with the ordinals ``kept``, followed by added queries. ``added``: the
        destinations of the added queries, None for a query without an operator.
        """
        known = {own: place for place, own in enumerate(self.entries)}
        places = [NO_DESTINATION if own is None else known.setdefault(own, len(known)) for own in added]
        of_query = np.append(self.of_query[kept], np.array(places, dtype=np.int32))
        return DestinationTable(tuple(known), frozen_int32(of_query))

    def taken(self, order: _Places) -> DestinationTable:
        """Return the table of the queries in another order. ``order``: the present ordinals, in that order."""
        return DestinationTable(self.entries, frozen_int32(self.of_query[order].astype(np.int32)))

    def compact(self) -> DestinationTable:
        """Return the table without the entries that no query uses."""
        used = self.used_places()
        if len(used) == len(self.entries):
            return self
        renumbered = np.full(len(self.entries) + 1, NO_DESTINATION, dtype=np.int32)
        renumbered[used] = np.arange(len(used))
        entries = tuple(self.entries[place] for place in used)
        return DestinationTable(entries, frozen_int32(renumbered[self.of_query]))

    def used_places(self) -> list[int]:
        """Return the indices of the entries that some query uses, ascending."""
        if not self.entries:
            return []
        places = np.unique(self.of_query)
        found: list[int] = places[places != NO_DESTINATION].tolist()
        return found

    def used(self) -> list[Destination]:
        """Return the distinct entries that some query uses."""
        return [self.entries[place] for place in self.used_places()]

    @property
    def nbytes(self) -> int:
        return int(self.of_query.nbytes) + sum(len(own.definition) for own in self.entries)

    def texts(self, low: int, high: int) -> pa.StringArray:
        """Return the entries ``low`` to ``high`` as JSON."""
        return pa.array([own.text() for own in self.entries[low:high]], pa.string())
