"""The exception of the workloads ends a command in one line."""

from __future__ import annotations

from cli.failure import failure_text
from workloads.errors import WorkloadError


def test_it_is_a_line_with_a_remedy_and_nothing_unexpected() -> None:
    said = failure_text(WorkloadError("missing census file", "a\nb", "install asc-broker again"))
    assert said == "error: missing census file 'a\\nb': install asc-broker again"
