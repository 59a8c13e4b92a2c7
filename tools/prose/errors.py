"""The exception of the prose checker, in one line of subject, value and remedy."""

from __future__ import annotations

from asc.errors import AscError


class ProseError(AscError):
    """A file that the checker cannot read: a page, a list of exceptions, or the baseline."""
