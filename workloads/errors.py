"""The exceptions of the workloads."""

from __future__ import annotations

from asc.errors import AscError


class WorkloadError(AscError):
    """An error about missing or invalid data, or about impossible parameters of a generator."""


class MissingDataError(WorkloadError):
    """An error about recorded tuples that are neither packaged nor in the folder of recorded data."""
