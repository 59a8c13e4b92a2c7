"""Limits on the windows that one commit writes for the first time. Revisions, which repeat windows because of late
records, have other limits.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_ROWS_MAX = 100_000
"""The most rows of windows that one commit writes for the first time."""
FIRST_WINDOWS_MAX = 5_000
"""The most windows that one commit writes for the first time; a window counts once for each output cuboid."""
FIRST_CELLS_MAX = 20_000_000
"""The most cells that one commit reads for windows that it writes for the first time."""


@dataclass(frozen=True, slots=True)
class FirstLimits:
    """The limits on the work that one commit does for windows that it writes for the first time.

    A window is never divided between commits. So the last window of a commit may exceed a limit.
    """

    rows: int = FIRST_ROWS_MAX
    windows: int = FIRST_WINDOWS_MAX
    cells: int = FIRST_CELLS_MAX

    def are_reached(self, rows: int, windows: int, cells: int) -> bool:
        """Return whether a commit that has written these numbers of rows, windows and cells must leave the remaining
        windows to the next commits.

        >>> FirstLimits(rows=5).are_reached(4, 1, 1), FirstLimits(rows=5).are_reached(5, 1, 1)
        (False, True)
        """
        return rows >= self.rows or windows >= self.windows or cells >= self.cells
