"""What a layer is hangs on its records alone, however they are cut into pieces, and garbage leaves the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import ShapeError
from asc.schema import properties_of_ddl
from asc.spatial.feature import Feature, feature_text, features_of
from asc.spatial.reading import Rules
from broker.layers import stored_layer
from broker.layers.mark import LayerMark
from broker.layers.stored_layer import StoredLayer, check_shape_id


def row(size: float = 1, **properties: object) -> bytes:
    return feature_text(Feature(shapely.box(0, 0, size, size), properties)).encode()


INVALID = json.dumps(
    {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}}
).encode()
GARBAGE = (b"", b"\xff\xfe", b"{", b"[]", b"null", INVALID, b'{"type":"Feature","geometry":{"type":"Cube"}}')
KEYS = (b"a", b"b", "Æ".encode(), b"d", None, b"", b"\xff", b"line\nbreak", b"x" * 501)
VALUES = (None, row(1), row(2, ceiling=3), row(3), *GARBAGE)
RECORDS = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=30)


def said(layer: StoredLayer) -> object:
    rows = {key: (str(one.shape), dict(one.properties)) for key, one in layer.rows.items()}
    return rows, dict(layer.refused), layer.unkeyed


def test_its_bounds_are_those_of_its_shapes() -> None:
    layer = StoredLayer(Rules(), 10)
    assert layer.bounds is None
    empty = json.dumps({"type": "Feature", "geometry": None, "properties": {}}).encode()
    layer, _ = layer.after([(b"none", empty)], LayerMark())
    assert layer.bounds is None
    layer, _ = layer.after([(b"a", row(1)), (b"b", row(3))], LayerMark())
    assert layer.bounds == (0, 0, 3, 3)
    layer, _ = layer.after([(b"b", None)], LayerMark())
    assert layer.bounds == (0, 0, 1, 1)


@given(RECORDS, st.lists(st.integers(0, 30)), st.integers(1, 4))
def test_it_is_the_same_in_any_pieces(
    records: list[tuple[bytes | None, bytes | None]], cuts: list[int], rows_max: int
) -> None:
    whole, changed = StoredLayer(Rules(), rows_max).after(records, LayerMark({0: 1}))
    places = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    found, ever = StoredLayer(Rules(), rows_max), set[str]()
    for low, high in pairwise(places):
        before = found
        found, more = found.after(records[low:high], LayerMark({0: high}))
        assert {key for key in {*before.rows, *found.rows} if before.rows.get(key) is not found.rows.get(key)} == more
        ever |= more
    assert said(found) == said(whole)
    assert changed <= ever
    assert len(whole.rows) <= rows_max
    # Beside it a plain dictionary: the last good one of an id, after the last removal of it.
    plain: dict[str, bytes] = {}
    for key, value in records:
        if key in KEYS[:4] and key is not None:
            if value is None:
                plain.pop(key.decode(), None)
            elif value not in GARBAGE and (key.decode() in plain or len(plain) < rows_max):
                plain[key.decode()] = value
    assert {key: feature_text(one).encode() for key, one in whole.rows.items()} == {
        key: value.replace(b" ", b"") for key, value in plain.items()
    }


def test_the_last_good_version_stays_and_the_reason_is_told() -> None:
    layer, _ = StoredLayer(Rules(), 9).after([(b"a", row(1)), (b"a", INVALID), (b"b", b"{")], LayerMark({0: 3}))
    assert list(layer.rows) == ["a"]
    assert layer.refused["a"].startswith("invalid shape 'Self-intersection at 1 1'")
    assert "is not JSON" in layer.refused["b"]
    mended, changed = layer.after([(b"a", row(2)), (b"b", None)], LayerMark({0: 5}))
    assert (dict(mended.refused), changed) == ({}, {"a"})


def test_what_is_more_than_the_limit_is_refused_until_there_is_room() -> None:
    layer, _ = StoredLayer(Rules(), 1).after([(b"a", row(1)), (b"b", row(1)), (b"a", row(2))], LayerMark())
    assert (list(layer.rows), list(layer.refused)) == (["a"], ["b"])
    assert layer.refused["b"] == "is one more than 1 rows: raise limits.layer_shapes"
    assert layer.layer.shape("a") == shapely.box(0, 0, 2, 2)
    after, _ = layer.after([(b"a", None), (b"b", row(1))], LayerMark())
    assert (list(after.rows), list(after.refused)) == (["b"], [])


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 501, "\x00"])
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(ShapeError, match="use 1 to 500 printable characters"):
        check_shape_id(text)
    assert check_shape_id("Ø/1 x") == "Ø/1 x"


def test_a_number_beyond_all_bounds_refuses_its_own_row_alone() -> None:
    layer = StoredLayer(Rules(properties=properties_of_ddl("d DECIMAL(5,2)")), 10)
    huge = json.dumps({"type": "Feature", "geometry": None, "properties": {"d": "1e1000000"}}).encode()
    layer, changed = layer.after([(b"a", row(1, d="1.5")), (b"b", huge), (b"c", row(1))], LayerMark())
    assert changed == {"a", "c"}
    assert "property d '1e1000000': is none of its type" in layer.refused["b"]


def test_an_error_that_was_not_foreseen_refuses_its_own_row_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(texts: Sequence[str], rules: Rules) -> list[Feature | ShapeError]:
        if any("bad" in text for text in texts):
            raise ZeroDivisionError("of nobody's thought")
        return features_of(texts, rules)

    monkeypatch.setattr(stored_layer, "features_of", failing)
    layer, changed = StoredLayer(Rules(), 10).after(
        [(b"a", row(1)), (b"b", row(1, bad=1)), (b"c", row(1))], LayerMark()
    )
    assert changed == {"a", "c"}
    assert "cannot be judged: of nobody's thought" in layer.refused["b"]
    assert "a row of a layer is refused" in caplog.text
