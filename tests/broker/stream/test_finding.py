"""A finding names expressions or topics, or none of them."""

from __future__ import annotations

from broker.stream.finding import Finding


def test_what_is_not_named_is_empty() -> None:
    assert (Finding().expressions, Finding().topics) == ({}, {})
    assert Finding(topics={"out": "is compacted"}).expressions == {}
