"""A file that is read whole has a bound, which holds where it has no end."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from broker.whole_file import read_bounded, text_of


def test_a_file_at_its_bound_is_read_and_one_beyond_it_is_refused() -> None:
    content = b"x" * 3_000_000
    assert read_bounded(BytesIO(content), 3_000_000) == content
    with pytest.raises(ValueError, match="has more than 2 MiB"):
        read_bounded(BytesIO(content), 2_999_999)


def test_a_file_without_an_end_is_refused() -> None:
    with Path("/dev/zero").open("rb") as endless, pytest.raises(ValueError, match="has more than 4 MiB"):
        read_bounded(endless, 4 << 20)


def test_lines_of_other_systems_are_lines() -> None:
    assert text_of("a\r\nü\r".encode()) == "a\nü\n"
