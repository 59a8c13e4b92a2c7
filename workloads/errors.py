"""The exceptions of the workloads."""

from __future__ import annotations

from asc.errors import AscError


class WorkloadError(AscError):
    """Data that is not there or not as it should be, or a generator asked for what cannot be."""


class MissingDataError(WorkloadError):
    """Recorded tuples that neither are packaged nor lie where they were looked for."""
