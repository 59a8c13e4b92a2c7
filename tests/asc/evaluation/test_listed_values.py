"""Blocks that are listed by values, beside bitmaps, over changes and travels: against bitmaps and the reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from asc.evaluation.evaluation_errors import queries_with_errors
from asc.evaluation.executor import match
from asc.evaluation.explain import explain
from asc.evaluation.reference import accepted_by
from asc.evaluation.trace_walk import traced
from asc.keys.constraint import Constraint
from asc.keys.float_bits import NAN_KEY
from asc.plan.compiler import change_plan, compile_plan, renewed
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema
from workloads.drawn_values import SCHEMA, Drawn

VALUES = 120
LISTED = CompileOptions(exact_bytes=1, listed_conjuncts=8)
BITMAPS = CompileOptions(listed_conjuncts=1 << 40)


def query(query_id: str, where: str) -> Query:
    return Query(query_id, normalise(where, SCHEMA, time_zone="UTC"))


def accepted(plan: Plan, table: pa.Table) -> list[list[str]]:
    columns = [table[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    matches = match(plan, columns, table.num_rows)
    found: list[list[str]] = [[] for _ in range(table.num_rows)]
    for row, ordinal in zip(matches.rows.tolist(), matches.queries.tolist(), strict=True):
        found[row].append(plan.query_ids[ordinal].as_py())
    assert all(len(set(ids)) == len(ids) and sorted(ids) == ids for ids in found)
    return found


def by_values(plan: Plan) -> list[str]:
    return [str(block.listed) for block in plan.listed if not block.by_shapes]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [70, 1_500])
def test_what_is_accepted_is_what_bitmaps_accept_whatever_became_of_the_plan(seed: int, rows: int) -> None:
    drawn = Drawn(seed, VALUES)
    standing = {f"q{n:03}": drawn.predicate() for n in range(150)}
    table = drawn.rows(rows)

    def check(plan: Plan) -> None:
        queries = [query(query_id, where) for query_id, where in standing.items()]
        assert accepted(plan, table) == accepted(compile_plan(queries, BITMAPS), table)
        assert plan.conjunct_count == sum(len(one.predicate.conjuncts) for one in queries)

    plan = compile_plan([query(*item) for item in standing.items()], LISTED)
    assert "s" in by_values(plan)
    assert plan.blocks
    check(plan)
    for step in range(5):
        added = {f"n{step}{n:02}": drawn.predicate() for n in range(int(drawn.random.integers(1, 12)))}
        replaced = {i: drawn.predicate() for i in standing if drawn.random.random() < 0.03}
        gone = [i for i in standing if i not in replaced and drawn.random.random() < 0.05]
        for one in gone:
            del standing[one]
        standing.update(added | replaced)
        plan = change_plan(plan, [query(*item) for item in (added | replaced).items()], gone)
        check(plan)
    assert by_values(plan)
    check(plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(plan)]))
    plan = renewed(plan)
    check(plan)
    columns = [table[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    for row in range(0, 70, 7):
        keys = [own.key_of(column[row]) for own, column in zip(plan.p_attributes, columns, strict=True)]
        assert accepted_by(plan, keys) == accepted(plan, table)[row]


def test_null_nan_and_both_zeros_are_found_as_spark_compares_them() -> None:
    wheres = {
        "zero": "d = 0.0D",
        "null": "d IS NULL",
        "some": "d IN (1.5D, -0.0D)",
        "safe": "d <=> 1.5D",
    }
    # No predicate has NaN as a constant; a constraint may have its key.
    ((attribute, _),) = query("", "d = 1.5D").predicate.conjuncts[0]
    nan = Constraint((((NAN_KEY, 0), (NAN_KEY, 1)),))
    queries = [*(query(*item) for item in wheres.items()), Query("nan", Predicate("", (((attribute, nan),),)))]
    plan = compile_plan(queries, CompileOptions(listed_conjuncts=1))
    assert by_values(plan) == ["d"]
    assert len(plan.listed[0]) == 4
    values = pa.table({"d": pa.array([0.0, -0.0, float("nan"), None, 1.5, 2.0])})
    assert accepted(plan, values) == [["some", "zero"], ["some", "zero"], ["nan"], ["null"], ["safe", "some"], []]


def test_dictionary_encoded_values_some_of_them_null() -> None:
    plan = compile_plan([query(f"q{n}", f"s = 'v{n}'") for n in range(20)], CompileOptions(listed_conjuncts=1))
    assert not plan.blocks
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 1], pa.int8()), pa.array(["v3", None, "w"]))
    assert accepted(plan, pa.table({"s": encoded})) == [["q3"], [], [], [], []]
    assert accepted(plan, pa.table({"s": pa.array([], pa.string())})) == []


def test_a_trace_tells_what_was_listed_and_which_term_failed() -> None:
    drawn = Drawn(5, VALUES)
    standing = {f"q{n:02}": drawn.predicate() for n in range(80)}
    plan = compile_plan([query(*item) for item in standing.items()], LISTED)
    table = drawn.rows(40)
    columns, found = [table[own.sql].combine_chunks() for own in plan.p_attributes], accepted(plan, table)
    listed = {i: own[0][0] for i in standing if (own := plan.conjuncts_of(i)) and own[0][0] >= len(plan.blocks)}
    pairs = [(row, i) for row in range(40) for i in listed if i in found[row]]
    pairs += [(row, i) for row, i in enumerate(list(listed)[:40])]
    assert any(query_id in found[row] for row, query_id in pairs)
    for row, query_id in pairs:
        values = [column[row] for column in columns]
        trace = traced(plan, values, query_id=query_id, listed=1_000)
        assert list(trace.accepted) == found[row]
        assert trace.verdict is not None
        assert trace.verdict.accepted == (query_id in found[row])
        block = trace.blocks_shown[0]
        assert block.number == listed[query_id]
        (visit,) = block.visits
        assert visit.before - visit.after == visit.eliminated.conjuncts
        assert visit.after - block.satisfied_conjuncts == block.verification.conjuncts
        assert "listed for it" in visit.region_text
        text = explain(plan, query_id, values, whole=True).text
        assert "by the values of" in text
        assert ("accepted by conjunct" in text) == (query_id in found[row])


def test_nothing_is_listed_for_null() -> None:
    plan = compile_plan([query(f"q{n}", f"c = {n}.00") for n in range(20)], CompileOptions(listed_conjuncts=1))
    (attribute,) = plan.p_attributes
    for value, near in ((None, 0), (0, 1), (50, 0)):
        (block,) = traced(plan, [pa.scalar(value, attribute.type)], query_id="q0").blocks_shown
        assert (block.visits[0].before, block.visits[0].after, block.dropped) == (20, near, not near)


def test_an_unknown_value_concerns_the_queries_whose_other_terms_hold() -> None:
    schema = Schema.from_ddl("n INT, m INT, alt INT")
    wheres = {
        "all": "n div m = 3",
        "low": "n div m = 4 AND alt < 10",
        "high": "n div m = 5 AND alt > 10",
        "few": "n div m IN (7, 9) AND alt < 10",
        "other": "m = 3",
        "beside": "m = 3 AND n div m > 1",
        "above": "m = 3 AND n div m > 1 AND alt > 90",
    }
    queries = [Query(i, normalise(sql, schema)) for i, sql in wheres.items()]
    plan = compile_plan(queries, CompileOptions(listed_conjuncts=1))
    assert len(by_values(plan)) == 2
    known = {"m": [0, 3, 1], "alt": [5, 50, 50]}
    slots = {own.sql: slot for slot, own in enumerate(plan.p_attributes)}
    (computed,) = slots.keys() - known.keys()
    columns = [pa.array(known.get(own.sql, [None, None, 5]), own.type) for own in plan.p_attributes]
    errors = {slots[computed]: np.array([True, True, False])}
    handles, counts = queries_with_errors(plan, columns, errors)
    found = {plan.query_ids[int(plan.ranks[h])].as_py(): int(c) for h, c in zip(handles, counts, strict=True)}
    assert found == {"all": 2, "low": 1, "high": 1, "few": 1, "beside": 1}
    assert found == _found_with(queries, columns, errors)


def _found_with(
    queries: list[Query], columns: list[pa.Array], errors: dict[int, npt.NDArray[np.bool_]]
) -> dict[str, int]:
    plan = compile_plan(queries)
    assert not plan.listed
    handles, counts = queries_with_errors(plan, columns, errors)
    return {plan.query_ids[int(plan.ranks[h])].as_py(): int(c) for h, c in zip(handles, counts, strict=True)}
