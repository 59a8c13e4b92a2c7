"""The exception of the tables of figures, in one line of subject, value and remedy."""

from __future__ import annotations

from asc.errors import AscError


class FiguresError(AscError):
    """A page or a result file from which no table can be made."""
