"""Frozen arrays: the same memory, and no way to write to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

from asc.frozen import STORED, OfArrays, arrays_of, frozen, frozen_int32, of_stored


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


@dataclass(frozen=True, slots=True, eq=False)
class _Two(OfArrays):
    small: npt.NDArray[np.int8]
    wide: npt.NDArray[np.int64]


def test_what_is_made_of_arrays_tells_them_in_order() -> None:
    two = _Two(np.zeros(3, dtype=np.int8), np.ones(2, dtype=np.int64))
    assert two.nbytes == 19
    assert two.arguments == (two.small, two.wide)
    assert list(two.arrays("own.")) == ["own.small", "own.wide"]


@dataclass(frozen=True, slots=True, eq=False)
class _Renamed(OfArrays):
    first: npt.NDArray[np.int8]
    second: npt.NDArray[np.int8] = field(metadata={STORED: "before"})


def test_a_field_keeps_the_name_that_it_is_stored_under() -> None:
    first, second = np.zeros(3, dtype=np.int8), np.ones(3, dtype=np.int8)
    stored = arrays_of(_Renamed(first, second))
    assert stored == {"first": first, "before": second}
    assert of_stored(_Renamed, stored).second is second
    with pytest.raises(KeyError):
        of_stored(_Renamed, {"first": first, "second": second})
    with pytest.raises(TypeError):
        of_stored(_Renamed, {"first": first})
