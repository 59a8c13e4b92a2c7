"""Columns of batches."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from asc.errors import AscError, CubeError, PlanError
from asc.operators.cube.columns import Columns
from asc.operators.cube.computed.table import computed_dimension
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.layout import Layout
from asc.operators.cube.operand import Operand, OperandReader
from asc.operators.cube.states.exact_sum import ExactSum
from asc.schema import Schema

SCHEMA = Schema.from_ddl("i INT, place STRUCT<city: STRING>, ts TIMESTAMP, b BOOLEAN")
TIMES = pa.array([0, None, 3_599_999_999, 3_600_000_000, -1, 2**62], pa.timestamp("us", tz="UTC"))
TABLE = pa.table(
    {
        "I": pa.chunked_array([[1, 2], [None, 4, 5, 6]], pa.int64()),
        "place": [{"city": "Oslo"}, None, {"city": None}, {"city": "Bodø"}, None, None],
        "ts": TIMES,
        "b": [True, None, True, False, True, False],
        "i + 1": pa.array([2, 3, None, 5, 6, 7]),
    }
)
INTEGER = Operand("i", pa.int32(), ("i",))
TIME = Operand("ts", pa.timestamp("us", tz="UTC"), ("ts",))


def columns(table: pa.Table = TABLE) -> Columns:
    return Columns(table, SCHEMA, "UTC")


def test_a_plain_column_is_found_by_its_path_in_the_type_of_the_schema() -> None:
    found = columns().array(INTEGER)
    assert (found.type, found.to_pylist()) == (pa.int32(), [1, 2, None, 4, 5, 6])
    city = columns().array(Operand("place.city", pa.string(), ("place", "city")))
    assert city.to_pylist() == ["Oslo", None, None, "Bodø", None, None]
    handed_over = columns(pa.table({"place.city": ["Rom"]}))
    assert handed_over.array(Operand("place.city", pa.string(), ("place", "city"))).to_pylist() == ["Rom"]
    encoded = TABLE.set_column(0, "i", TABLE["I"].dictionary_encode())
    assert columns(encoded).array(INTEGER).to_pylist() == [1, 2, None, 4, 5, 6]


def test_an_expression_is_the_column_of_its_text() -> None:
    assert columns().array(Operand("i + 1", pa.int32())).to_pylist() == [2, 3, None, 5, 6, 7]
    with pytest.raises(CubeError, match="expression 'i - 1': is no plain column: hand its values over"):
        columns().array(Operand("i - 1", pa.int32()))


def test_a_filter_over_plain_columns_is_judged_here() -> None:
    sql = "CASE WHEN (b) THEN i END"
    own = Operand(sql, pa.int32(), None, "b", INTEGER)
    assert columns().array(own).to_pylist() == [1, None, None, None, 5, None]
    records = Operand("CASE WHEN (i > 4) THEN 1 END", pa.int32(), None, "i > 4")
    assert columns().array(records).to_pylist() == [None, None, None, None, 1, 1]
    handed_over = TABLE.append_column(sql, pa.array([7] * 6))
    assert columns(handed_over).array(own).to_pylist() == [7] * 6
    with pytest.raises(AscError, match="needs Spark to compute"):
        columns().array(Operand("CASE WHEN (i % 2 = 1) THEN i END", pa.int32(), None, "i % 2 = 1", INTEGER))


@pytest.mark.parametrize(("name", "values"), [("i", ["a"]), ("i", [2**40]), ("j", [1])])
def test_a_column_that_does_not_fit_is_refused(name: str, values: list[object]) -> None:
    with pytest.raises((CubeError, PlanError)) as caught:
        columns(pa.table({name: values})).array(INTEGER)
    assert "\n" not in str(caught.value)


def test_a_pane_is_a_floor_and_an_unusable_time_has_none_of_its_own() -> None:
    found = columns().panes(TIME, 3_600_000_000)
    usable = columns().usable(TIME)
    assert usable is not None
    assert usable.tolist() == [True, False, True, True, True, False]
    assert found.numbers[usable].tolist() == [0, 0, 1, -1]
    assert found.radix == 3
    assert columns(TABLE.slice(2, 3)).usable(TIME) is None
    assert columns(TABLE.slice(1, 1)).panes(TIME, 1).radix == 1


def test_texts_that_are_not_utf_8_are_repaired() -> None:
    damaged = pa.array([b"a", b"\xff\xfeb", None, b"a"], pa.binary()).view(pa.string())
    whole = ["a", "\ufffd\ufffdb", None, "a"]
    text, city = Operand("lower(s)", pa.string()), Operand("place.city", pa.string(), ("place", "city"))
    place = pa.StructArray.from_arrays([damaged], ["city"])
    several = pa.chunked_array([damaged.slice(0, 1), damaged.slice(1)])
    for values in (damaged, several, damaged.dictionary_encode(), damaged.view(pa.string())):
        own = columns(pa.table({"lower(s)": values, "place": place}))
        assert (own.array(text).to_pylist(), own.array(city).to_pylist()) == (whole, whole)
        assert own.key(text).array().to_pylist() == whole
    first = Operand("CASE WHEN (b) THEN lower(s) END", pa.string(), None, "b", text)
    table = pa.table({"lower(s)": damaged, "b": [True, True, True, False]})
    assert columns(table).array(first).to_pylist() == [*whole[:3], None]


def test_everything_is_made_once() -> None:
    own = columns()
    assert own.key(INTEGER) is own.key(INTEGER)
    assert own.values(INTEGER, ExactSum(pa.int32())) is own.values(INTEGER, ExactSum(pa.int32()))
    assert own.panes(TIME, 60) is own.panes(TIME, 60)


def test_the_levels_of_a_computed_dimension_are_computed_together() -> None:
    reader = OperandReader(Schema.from_ddl("lat DOUBLE, lon FLOAT"), "UTC")
    dimension = computed_dimension("geohash(lat, lon, 5 > 10)")
    assert dimension is not None
    coarse, fine = reader.levels(dimension)
    batch = Columns(pa.table({"lat": [42.6, None], "lon": [-5.5, 1.0]}), reader.schema, "UTC")
    assert batch.key(coarse).array().to_pylist() == ["e", None]
    kept = batch.key(fine)
    assert kept.array().to_pylist() == ["ez", None]
    assert batch.key(fine) is kept
    assert batch.sizes(fine).longest == 2


def test_equal_names_of_two_cubes_are_two_keys() -> None:
    table = pa.table({"x": [1.0, 5.0], "y": [5.0, 1.0]})
    columns = Columns(table, Schema(table.schema), "UTC")
    found = []
    for text in ("bins(x, 2, [3]) AS b", "bins(y, 2, [3]) AS b", "bins(x, 2, [9]) AS b"):
        definition = CubeDefinition.parse({"dimensions": [[text]], "measures": ["count(*)"]}, needs_time=False)
        (level,) = Layout.of(definition, Schema(table.schema)).dimensions
        found.append(columns.key(level).array().to_pylist())
    assert found == [[-math.inf, 3.0], [3.0, -math.inf], [-math.inf, -math.inf]]
