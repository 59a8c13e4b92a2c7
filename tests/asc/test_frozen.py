"""Frozen arrays: the same memory, and no way to write to it."""

from __future__ import annotations

import numpy as np
import pytest

from asc.frozen import frozen, frozen_int32


def test_the_array_itself_can_no_longer_be_written() -> None:
    array = np.arange(3)
    assert frozen(array) is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_other_numbers_become_int32_and_those_are_not_copied() -> None:
    wide = np.arange(3)
    narrow = frozen_int32(wide)
    assert narrow.dtype == np.int32
    assert wide.flags.writeable
    assert frozen_int32(narrow) is narrow
