"""One kind with the handoff ``feed`` under the contract of test_contract.py.

Each such kind has a module ``contract_case`` in its package of tests, with its ``KIND``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from asc.operators.exclusions import FeedCounts
from asc.operators.feed import Settings

SECOND = 1_000_000


class Part(Protocol):
    """The state of a part, as the task of its kind uses it."""

    counts: FeedCounts

    @property
    def held(self) -> int: ...

    def read(self, texts: Iterable[str | bytes]) -> Iterator[Any]: ...

    def to_bytes(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind under the contract.

    ``empty`` and ``of_bytes``: a part without messages, and the part of its bytes. ``settings``: what a feed may say
    of its queries, one after the other; the first has queries of the track ``t`` and the selections ``s`` and ``r``.
    ``held_most``: what it may hold under the first. ``numbered``: settings of the track ``t`` and the selection ``s``
    with every number that settings of the kind may have.
    """

    op: str
    empty: Callable[[], Part]
    of_bytes: Callable[[bytes], Part]
    settings: tuple[Settings, ...]
    held_most: int
    numbered: Settings
