"""Errors that forbid a release."""

from __future__ import annotations

from asc.errors import AscError


class ReleaseError(AscError):
    """A tree, an archive or an installation that may not be released as it is."""
