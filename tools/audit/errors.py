"""The exceptions of the audit. The message of each exception is one line with a subject, a value and a remedy."""

from __future__ import annotations

from asc.errors import AscError


class AuditError(AscError):
    """An error that prevents the audit: a missing package or jar, or an unreadable file."""


class NoDataError(AuditError):
    """The error if the vulnerability data is unavailable, so that the audit cannot say whether components have known
    vulnerabilities.
    """
