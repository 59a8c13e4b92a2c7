"""Marks of layers in the registry."""

from __future__ import annotations

import pytest

from broker.layers.mark import LayerMark


def test_a_mark_is_read_as_it_was_written() -> None:
    for mark in (LayerMark(), LayerMark({0: 7, 11: 0}, "id"), LayerMark({3: 1 << 60}, None)):
        assert LayerMark.of(mark.record()) == mark


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"v": 2}',
        b'{"v": 1}',
        b'{"v": 1, "offsets": []}',
        b'{"v": 1, "offsets": {"a": 1}}',
        b'{"v": 1, "offsets": {"0": null}}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_mark_has_the_layer_read_anew(value: bytes) -> None:
    assert LayerMark.of(value) == LayerMark()


def test_it_reaches_what_was_written_before_it() -> None:
    mark = LayerMark({0: 7, 1: 2})
    assert mark.reaches({0: 7})
    assert mark.reaches({})
    assert not mark.reaches({0: 7, 1: 3})
    assert not mark.reaches({2: 1})
