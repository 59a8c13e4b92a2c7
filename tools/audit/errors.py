"""The exceptions of the audit: each one line of subject, value and remedy."""

from __future__ import annotations

from asc.errors import AscError


class AuditError(AscError):
    """An error that prevents the audit: a missing package or jar, or an unreadable file."""


class NoDataError(AuditError):
    """The vulnerability data is unavailable, so that no vulnerability is known."""
