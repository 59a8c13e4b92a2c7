"""Errors that forbid a release."""

from __future__ import annotations

from asc.errors import AscError


class ReleaseError(AscError):
    """A source tree, an archive or an installation that must not be released."""
