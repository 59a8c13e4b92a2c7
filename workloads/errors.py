"""The exceptions of the workloads."""

from __future__ import annotations

from asc.errors import AscError


class WorkloadError(AscError):
    """The error for data that is missing or invalid, or for parameters with which a generator cannot draw a
    workload.
    """


class MissingDataError(WorkloadError):
    """The error for recorded tuples that are neither packaged with the project nor present in the folder of recorded
    data.
    """
