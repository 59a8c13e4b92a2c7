"""The exceptions of the audit: each one line of subject, value and remedy."""

from __future__ import annotations

from asc.errors import AscError


class AuditError(AscError):
    """An error that keeps the audit from being made: a package or jar that is missing, a file that cannot be read."""


class NoDataError(AuditError):
    """The data about vulnerabilities cannot be had, so that nothing is known of them."""
