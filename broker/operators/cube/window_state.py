"""States of windows: what a cube has written of them after a commit, and what late records have changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from asc.operators.cube.cells import Cells, merged
from asc.operators.cube.layout import Layout
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import Position
from broker.operators.cube.coverage import merged as merged_intervals
from broker.operators.cube.coverage import without
from broker.operators.cube.panes import Panes, StoredPiece, sound


@dataclass(frozen=True, slots=True, eq=False)
class KeptPane:
    """A pane that late records have changed: the bytes of the piece of which some windows were written.

    ``first``, ``end``: the numbers of these windows, from the one to before the other. ``data``: empty of a pane that
    had no cell. ``number``: that of its row.
    """

    number: int
    pane: int
    first: int
    end: int
    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class WindowState:
    """Progress of the windows of a cube in its topic.

    ``begun``: the first window that is written, None for the first one that there is; ``written``: the last one that is
    acknowledged, None before it. ``former``: the panes that were changed since; ``position``: how far the first window
    with one is revised; ``is_due``: whether the last commit has not had its rows of revisions yet.

    Invariant: the rows of each window up to ``written`` are those of its panes, former ones in their place.
    """

    topic: str
    output: Output
    begun: int | None = None
    written: int | None = None
    position: Position = field(default_factory=Position)
    former: tuple[KeptPane, ...] = ()
    is_due: bool = False

    @staticmethod
    def beginning(topic: str, output: Output, open_from: int | None, *, is_new: bool) -> WindowState:
        """Return the state before the first window.

        A cube that has pieces already begins with the windows that end after its watermark.
        """
        if is_new or open_from is None:
            return WindowState(topic, output)
        written = output.sliding.last_final(open_from)
        return WindowState(topic, output, written + 1, written)

    @property
    def revising(self) -> int:
        """Return the first window that is to be revised, where there is one."""
        return min(own.first for own in self.former)

    def is_of(self, topic: str, output: Output) -> bool:
        """Return whether it goes on with a topic and an output."""
        return (self.topic, self.output) == (topic, output)

    def due_to(self, open_from: int | None) -> int | None:
        """Return the last window that is final and not written yet; None where there is none."""
        if open_from is None:
            return None
        last = self.output.sliding.last_final(open_from)
        return last if self.written is None or last > self.written else None

    def changed(
        self,
        layout: Layout,
        before: Panes,
        panes: Iterable[int],
        read: Callable[[Layout, StoredPiece], Cells],
        numbers: Iterator[int],
    ) -> WindowState:
        """Return it after the commit of a batch that changed some panes.

        ``before``: the pieces until then; ``read``: their cells.
        A pane is kept as it was for the written windows for which it is not kept already.
        """
        if self.written is None:
            return self
        new: list[KeptPane] = []
        is_touched = False
        for pane in sorted(panes):
            holding = self.output.sliding.holding(pane)
            first = holding.start if self.begun is None else max(holding.start, self.begun)
            end = min(holding.stop, self.written + 1)
            if first >= end:
                continue
            is_touched = True
            known = merged_intervals((own.first, own.end) for own in self.former if own.pane == pane)
            data: bytes | None = None
            for start, stop in without((first, end), known):
                if data is None:
                    data = _bytes_of(layout, [read(layout, piece) for piece in sound(before.pane(pane))])
                new.append(KeptPane(next(numbers), pane, start, stop, data))
        if not is_touched:
            return replace(self, is_due=True) if self.former and not self.is_due else self
        # What is written of the first window may be out of date again: it begins anew.
        return replace(self, former=(*self.former, *new), position=Position(), is_due=True)

    def revised(self, following: int | None, position: Position) -> WindowState:
        """Return it after revisions up to before a window, and up to a position in it; None for all of them."""
        if following is None:
            return replace(self, former=(), position=Position(), is_due=False)
        kept = (
            own if own.first >= following else replace(own, first=following)
            for own in self.former
            if own.end > following
        )
        return replace(self, former=tuple(kept), position=position, is_due=False)


def _bytes_of(layout: Layout, parts: list[Cells]) -> bytes:
    """Return the bytes of the piece of one pane; nothing where it has no cell."""
    pieces = list(merged(layout, parts).pieces(layout)) if parts else []
    return pieces[0].to_bytes() if pieces else b""
