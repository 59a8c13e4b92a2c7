"""Parts of a load: whole lines, and smaller ones where the daemon takes none so large."""

from __future__ import annotations

import pytest

from broker.client.errors import TooLargeError
from broker.client.load_parts import halved, part_at


@pytest.mark.parametrize("size_bytes", [0, 1, 3, 4, 5, 9, 100])
def test_parts_are_whole_lines_and_all_of_them(size_bytes: int) -> None:
    content = b"a\n\nbb\nccccc\nd"
    parts = []
    while sum(map(len, parts)) < len(content):
        parts.append(part_at(content, sum(map(len, parts)), size_bytes))
    assert b"".join(parts) == content
    assert all(part.endswith(b"\n") for part in parts[:-1])
    assert all(len(part) <= size_bytes or part.count(b"\n") <= 1 for part in parts)


def test_a_refusal_that_smaller_parts_do_not_mend_is_raised() -> None:
    too_large = TooLargeError("body", "over 4 bytes", "send it in parts", status=413)
    assert halved(b"a\nbb\n", too_large) == 2
    for part, refusal in (
        (b"one line\n", too_large),
        (b"a\nbb\n", TooLargeError("parts of loads", "9 bytes", "raise it", status=413)),
    ):
        with pytest.raises(TooLargeError) as caught:
            halved(part, refusal)
        assert caught.value is refusal
