"""The executor at its edges: empty and all-NULL batches, array forms, growth of the output, refusals, processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

import asc
from asc.errors import PlanError
from asc.evaluation.executor import CHUNK_ROWS, match
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form import Predicate

A = PAttribute("a", pa.int32(), ("a",))
S = PAttribute("s", pa.string(), ("s",))
POSITIVE = Constraint((((0, 1), None),))
NOTHING = Constraint((), null=True)
OSLO = Constraint((((b"Oslo", 0), (b"Oslo", 1)),))


def plan_of(**conjuncts: tuple[PAttribute, Constraint]) -> Plan:
    return compile_plan([Query(query_id, Predicate("", ((one,),))) for query_id, one in conjuncts.items()])


def ids(plan: Plan, *columns: pa.Array | pa.ChunkedArray) -> list[list[str]]:
    lists: list[list[str]] = match(plan, columns, len(columns[0])).lists(plan.query_ids).to_pylist()
    return lists


def test_empty_batches() -> None:
    plan = plan_of(positive=(A, POSITIVE), oslo=(S, OSLO))
    matches = match(plan, [pa.array([], pa.int32()), pa.chunked_array([], pa.string())], 0)
    assert (len(matches), matches.tuples, matches.dropped, matches.evaluated) == (0, 0, 0, 0)
    rows, lists = matches.accepted(plan.query_ids)
    assert (len(rows), len(lists)) == (0, 0)


def test_all_null_columns() -> None:
    plan = plan_of(positive=(A, POSITIVE), nothing=(A, NOTHING), oslo=(S, OSLO), silent=(S, NOTHING))
    assert ids(plan, pa.nulls(3, pa.int32()), pa.nulls(3, pa.string())) == [["nothing", "silent"]] * 3


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x", "Oslo", None, "", "Oslo!"]),
        pa.array(["?", "x", "Oslo", None, "", "Oslo!", "?"]).slice(1, 5),
        pa.chunked_array([["x"], [], ["Oslo", None], ["", "Oslo!"]]),
        pa.array(["x", "Oslo", None, "", "Oslo!"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 4]), pa.array(["x", "Oslo", None, "", "Oslo!"])),
        pa.array(["x", "Oslo", None, "", "Oslo!"], pa.large_string()),
        pa.array(["x", "Oslo", None, "", "Oslo!"], pa.string_view()),
    ],
    ids=["plain", "sliced", "chunked", "dictionary", "dictionary with NULL", "large", "view"],
)
def test_forms_of_a_string_column(values: pa.Array | pa.ChunkedArray) -> None:
    plan = plan_of(oslo=(S, OSLO), nothing=(S, NOTHING))
    assert ids(plan, values) == [[], ["oslo"], ["nothing"], [], []]


def test_a_dictionary_without_values_is_all_null() -> None:
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    assert ids(plan_of(nothing=(S, NOTHING)), empty) == [["nothing"]] * 2


def test_more_pairs_than_room_was_made_for() -> None:
    queries = [Query(f"q{number:03d}", Predicate("", (((A, POSITIVE),),))) for number in range(300)]
    plan = compile_plan(queries, CompileOptions(exact_bytes=0, block_conjuncts=64))
    rows = CHUNK_ROWS + 100
    values = np.arange(rows) % 2
    matches = match(plan, [pa.array(values, pa.int32())], rows)
    assert np.array_equal(matches.rows, np.repeat(np.flatnonzero(values), 300))
    assert np.array_equal(matches.queries, np.tile(np.arange(300), rows // 2))
    assert matches.dropped == rows - rows // 2


def test_match_all_queries_are_routed_beside_the_constructs() -> None:
    everything = Query("m", Predicate("TRUE", (), match_all=True), "all")
    nothing = Query("n", Predicate("FALSE", ()), "none")
    positive = Query("p", Predicate("", (((A, POSITIVE),),)), "some")
    plan = compile_plan([everything, nothing, positive])
    matches = match(plan, [pa.array([1, -1], pa.int32())], 2)
    assert matches.lists(plan.query_ids).to_pylist() == [["m", "p"], ["m"]]
    assert matches.lists(plan.topics.dictionary.take(plan.topics.indices)).to_pylist() == [["all", "some"], ["all"]]
    assert matches.dropped == 1
    rows, lists = matches.accepted(plan.query_ids)
    assert rows.tolist() == [0, 1]
    assert lists.to_pylist() == [["m", "p"], ["m"]]


def test_a_plan_of_match_all_queries_alone_needs_no_column() -> None:
    plan = compile_plan([Query("m", Predicate("TRUE", (), match_all=True))])
    assert match(plan, [], 3).lists(plan.query_ids).to_pylist() == [["m"]] * 3


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        ([], 2, "number of columns 0"),
        ([pa.array([1], pa.int32())], 2, "length of column a 1"),
        ([pa.array([1, 2], pa.int64())], 2, "column of p-attribute a has type 'int64': expected int32"),
        ([pa.array(["1", "2"]).dictionary_encode()], 2, "has type 'string': expected int32"),
    ],
)
def test_refused_columns(columns: list[pa.Array], rows: int, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        match(plan_of(positive=(A, POSITIVE)), columns, rows)


def test_a_plan_travels_and_cannot_be_written() -> None:
    plan = plan_of(positive=(A, POSITIVE), oslo=(S, OSLO))
    for copy in (plan, Plan.from_bytes(plan.to_bytes()), Plan.from_bytes(memoryview(b"?" + plan.to_bytes())[1:])):
        assert ids(copy, pa.array([1, 0], pa.int32()), pa.array(["x", "Oslo"])) == [["positive"], ["oslo"]]
        assert copy.p_attributes == plan.p_attributes
        with pytest.raises(ValueError, match="read-only"):
            copy.blocks[0].matrix[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            copy.ranks[0] = 0


def summed(rest: bytes) -> bytes:
    return b"ASCPLAN2" + crc32(rest).to_bytes(4, "little") + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"ASCPLAN2",
        b"ASCPLAN2" + b"\xff" * 30,
        summed(b""),
        summed(b"\xff" * 40),
        summed(b"\x02\0\0\0{}"),
        summed(b"\x02\0\0\0[]"),
        summed(b'\x14\0\0\0{"arrays":[[1,2,3]]}'),
    ],
)
def test_bytes_that_are_no_plan(data: bytes) -> None:
    with pytest.raises(PlanError, match="plan"):
        Plan.from_bytes(data)


def test_bytes_cut_short() -> None:
    data = plan_of(positive=(A, POSITIVE)).to_bytes()
    with pytest.raises(PlanError, match="cut short"):
        Plan.from_bytes(data[: len(data) // 2])


def test_any_damaged_byte_is_found() -> None:
    data = plan_of(positive=(A, POSITIVE)).to_bytes()
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= (0x01, 0x10, 0x80)[position % 3]
        with pytest.raises(PlanError, match="plan"):
            Plan.from_bytes(bytes(damaged))
        # a sum that fits lies: whatever comes out, no other exception does
        with contextlib.suppress(PlanError):
            Plan.from_bytes(summed(bytes(damaged[12:])))


@pytest.mark.parametrize("dtype", ['"," ', '"<M8"', '"|O8"', '"i4,"', "[1]  ", "null "])
def test_an_array_of_a_type_that_no_plan_has_is_refused(dtype: str) -> None:
    data = plan_of(positive=(A, POSITIVE)).to_bytes()
    assert b'"<i4"' in data
    with pytest.raises(PlanError, match="another version wrote them"):
        Plan.from_bytes(summed(data[12:].replace(b'"<i4"', dtype.encode())))


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


def test_parsing_alone_does_not_load_the_kernels() -> None:
    code = "import sys, asc, asc.schema, asc.predicate; print('numba' in sys.modules, asc.Schema.__name__)"
    assert run(code) == "False Schema"


def test_kernels_compile_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """Neither the package nor the user's cache can be written: as on a worker that runs the package from a read-only
    disk.
    """
    package = Path(asc.__file__).parent
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = (
        "import numpy as np, numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from asc.keys.kernels import float_keys\n"
        "keys = np.empty(2, np.int64); float_keys(np.array([0.0, -0.0]), keys); print(keys.tolist())"
    )
    assert run(code, PYTHONPATH=str(package.parent), HOME=str(blocked)) == "[0, 0]"
