"""The exceptions of the workloads end a command in one line."""

from __future__ import annotations

from cli.failure import failure_text
from workloads.errors import MissingDataError, WorkloadError


def test_it_is_a_line_with_a_remedy_and_nothing_unexpected() -> None:
    said = failure_text(WorkloadError("missing census file", "a\nb", "install asc-broker again"))
    assert said == "error: missing census file 'a\\nb': install asc-broker again"


def test_missing_data_is_an_error_of_the_workloads() -> None:
    said = failure_text(MissingDataError("missing connections", "a/b", "name the folder"))
    assert said == "error: missing connections 'a/b': name the folder"
    assert issubclass(MissingDataError, WorkloadError)
