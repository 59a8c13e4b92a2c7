"""The comparison that ``asc demo`` makes; the whole of it runs from the wheel, in ``tests/test_wheel.py``."""

from __future__ import annotations

from collections import Counter

import pytest

from cli.demo.run import compare

ROW_OF = {"s-0-5": 0, "s-0-6": 1, "s-0-7": 2}


@pytest.mark.parametrize(
    ("sources", "agrees"),
    [
        (["s-0-6", "s-0-5"], True),
        (["s-0-5"], False),
        (["s-0-5", "s-0-7"], False),
        (["s-0-5", "s-0-6", "s-0-6"], False),
        (["s-0-5", "s-0-6", "s-0-8"], False),
        (["s-0-5", "s-0-6", None], False),
    ],
)
def test_a_topic_agrees_only_with_exactly_its_rows(sources: list[str | None], agrees: bool) -> None:
    found = compare([{"source": source} for source in sources], ROW_OF, Counter([0, 1]))
    assert found == {"received": len(sources), "expected": 2, "agrees": agrees}
