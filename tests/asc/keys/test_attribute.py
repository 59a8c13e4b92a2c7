"""P-attributes: known by their text and type, whatever is computed beside them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute


def test_the_condition_of_an_error_is_no_part_of_the_identity() -> None:
    own, other = PAttribute("a / b", pa.float64()), PAttribute("a / b", pa.float64(), error_condition="b = 0")
    assert own == other
    assert len({own, other}) == 1
    assert own != PAttribute("a / b", pa.float32())


def test_a_type_without_keys_has_no_space() -> None:
    with pytest.raises(TypeError, match=r"xs has type list<item: int32>"):
        _ = PAttribute("xs", pa.list_(pa.int32())).space
