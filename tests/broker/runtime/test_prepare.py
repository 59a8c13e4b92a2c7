"""What is prepared is left as it is. That all of it is made on an empty machine: see ``test_main``."""

from __future__ import annotations

import pytest

from broker.runtime.prepare import prepare


@pytest.mark.spark
def test_what_is_there_is_told_and_nothing_is_made_again() -> None:
    lines: list[str] = []
    took_a_while: list[str] = []
    prepare(lines.append, took_a_while.append)
    assert [line.split()[0] for line in lines] == ["Java", "6", "46", "kernels", "Spark's"]
    assert took_a_while == []
