"""The exceptions of the workloads."""

from __future__ import annotations

from asc.errors import AscError


class WorkloadError(AscError):
    """Data that is missing or invalid, or impossible parameters of a generator."""


class MissingDataError(WorkloadError):
    """Recorded tuples that are neither packaged nor in the folder where they were looked for."""
