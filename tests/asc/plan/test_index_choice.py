"""What is listed by values and what stays in bitmaps, when a plan is compiled and when it changes."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan, renewed
from asc.plan.index_choice import FEW, MOST, MOST_VALUES, rare
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.schema import Schema

SCHEMA = Schema.from_ddl("s STRING, n BIGINT, alt INT, lon DOUBLE, lat DOUBLE")
N, ALT = (PAttribute(name, kind, (name,)) for name, kind in (("n", pa.int64()), ("alt", pa.int32())))
LEAST = CompileOptions().listed_conjuncts
SOME = CompileOptions(listed_conjuncts=10)


def of(where: str, query_id: str = "q") -> Query:
    return Query(query_id, normalise(where, SCHEMA))


def wants(number: int, value: int, above: int | None = None) -> Query:
    """The query of n = value, and of alt > above."""
    own = [(N, Constraint((((value, 0), (value, 1)),)))]
    if above is not None:
        own.append((ALT, Constraint((((above, 1), None),))))
    return Query(f"q{number:06}", Predicate("", (tuple(own),)))


def places(plan: Plan) -> dict[str, str]:
    """By query where it stands: what lists it, or bitmaps."""
    found = {}
    for query_id in plan.query_ids.to_pylist():
        for number, _ in plan.conjuncts_of(query_id):
            listed = number >= len(plan.blocks)
            found[query_id] = str(plan.listed[number - len(plan.blocks)].listed) if listed else "bitmaps"
    return found


@pytest.mark.parametrize("above", [None, 3])
def test_from_so_many_conjuncts_on_a_plan_lists_them(above: int | None) -> None:
    queries = [wants(number, 7 * number, above) for number in range(LEAST)]
    plan = compile_plan(queries)
    assert not plan.blocks
    (block,) = plan.listed
    assert (len(block), block.under, str(block.listed)) == (LEAST, LEAST, "n")
    assert not compile_plan(queries[:-1]).listed
    assert not compile_plan(queries, CompileOptions(always_exact=True)).listed
    assert not compile_plan(queries, CompileOptions(listed_conjuncts=LEAST + 1)).listed


def test_values_that_many_ask_for_stay_in_bitmaps() -> None:
    common = [wants(number, 1) for number in range(FEW + 1)]
    others = [wants(100 + number, 2 + number // FEW) for number in range(40)]
    found = places(compile_plan([*common, *others], SOME))
    assert {found[query.id] for query in common} == {"bitmaps"}
    assert {found[query.id] for query in others} == {"n"}


def test_the_more_conjuncts_there_are_the_more_may_ask_for_one_value() -> None:
    assert [rare(number) for number in (1, 4_096, 10_240, 1_000_000)] == [FEW, 4, 10, MOST]
    queries = [wants(number, number // 8) for number in range(8_200)]
    assert len(compile_plan(queries).listed) == 1
    assert not compile_plan([wants(number, number // 9) for number in range(8_200)]).listed


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("n = 5", "n"),
        ("n = 5 AND alt > 3", "n"),
        ("n IN (5, 9) AND (alt > 3 OR alt IS NULL)", "n"),
        ("n = 5 AND alt > 3 OR n = 9", "n"),
        ("n >= 5 AND n <= 5", "n"),
        ("n = 5 AND s = 'seen'", "n"),
        (f"n IN ({', '.join(str(3 * value) for value in range(MOST_VALUES))})", "n"),
        (f"n IN ({', '.join(str(3 * value) for value in range(MOST_VALUES + 1))})", "bitmaps"),
        ("n <> 5", "bitmaps"),
        ("n = 5 OR n IS NULL", "bitmaps"),
        ("n = 5 OR alt > 3", "bitmaps"),
        ("n = 5 OR s = 'seen'", "bitmaps"),
        ("n = 5 AND s LIKE '%a%'", "bitmaps"),
        ("n > 5", "bitmaps"),
        ("n = 5 AND ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat))", "ST_Point(lon, lat)"),
        ("n = 5 AND NOT ST_Contains(ST_PolygonFromEnvelope(0, 0, 4, 4), ST_Point(lon, lat))", "bitmaps"),
    ],
)
def test_a_query_is_listed_where_each_conjunct_asks_for_a_few_rare_values(where: str, place: str) -> None:
    others = [*(wants(number, 1_000 + number) for number in range(20)), of("alt > 7", "alt")]
    assert places(compile_plan([*others, of(where)], SOME))["q"] == place
    plan = compile_plan(others, SOME)
    changed = change_plan(plan, [of(where)])
    assert places(changed)["q"] == place
    assert places(renewed(changed))["q"] == place


def test_of_several_p_attributes_the_one_with_the_most_different_values_lists() -> None:
    queries = [of(f"n = {number} AND s = 's{number // 2}'", f"q{number:02}") for number in range(20)]
    queries += [of(f"s = 'only{number}'", f"s{number:02}") for number in range(10)]
    few = [of(f"alt = {number}", f"t{number}") for number in range(9)]
    assert Counter(places(compile_plan([*queries, *few], SOME)).values()) == {"n": 20, "s": 10, "bitmaps": 9}


def test_a_change_lists_what_is_rare_and_leaves_the_large_block() -> None:
    plan = compile_plan([*(wants(number, number) for number in range(5_000)), of("alt > 9", "alt")])
    known = parts_of(plan)
    for number in range(20):
        plan = change_plan(plan, [wants(10_000 + number, 9_000 + number // FEW)])
    assert [len(block) for block in plan.listed] == [5_000, 20]
    new = [part for part in parts_of(plan, known) if part not in known]
    assert {part.kind for part in new} == {"head", "values", "ids"}
    assert sum(part.nbytes for part in new if part.kind == "values") < 3_000
    common = change_plan(plan, [wants(20_000, 9_000)])
    assert places(common)["q020000"] == "bitmaps"
    at_once = change_plan(plan, [wants(30_000 + number, 77_777) for number in range(FEW + 2)])
    assert Counter(places(at_once).values())["bitmaps"] == 3
    gone = change_plan(plan, remove=["q000003"])
    assert all(own is block for own, block in zip(gone.listed, plan.listed, strict=True))
    assert gone.conjunct_count == plan.conjunct_count - 1


def test_what_grows_is_listed_when_it_is_compiled_anew_and_what_shrinks_is_not() -> None:
    plan = compile_plan([wants(number, number) for number in range(9)], SOME)
    assert not plan.listed
    for number in range(9, 30):
        plan = change_plan(plan, [wants(number, number)])
    assert set(places(plan).values()) == {"n"}
    for number in range(25):
        plan = change_plan(plan, remove=[f"q{number:06}"])
    assert len(plan) == 5
    assert set(places(renewed(plan)).values()) == {"bitmaps"}


def test_a_snapshot_keeps_the_lists_and_one_without_the_option_has_its_default() -> None:
    plan = compile_plan([of(f"s = 'v{number}' AND alt > 3", f"q{number:02}") for number in range(20)], SOME)
    parts = [Part.from_bytes(part.to_bytes()) for part in parts_of(plan)]
    back = plan_of(parts)
    assert places(back) == places(plan)
    assert back.options == SOME
    options = {name: value for name, value in parts[0].says["options"].items() if name != "listed_conjuncts"}
    older = plan_of([Part({**parts[0].says, "options": options}, parts[0].arrays), *parts[1:]])
    assert older.options == CompileOptions(listed_conjuncts=LEAST)


def test_a_listed_block_and_the_bitmaps_have_the_constants_they_need() -> None:
    plan = compile_plan(
        [*(of(f"s = 'v{number}'", f"q{number:02}") for number in range(20)), of("s > 'w'", "above")], SOME
    )
    (block,) = plan.listed
    assert block.dictionaries[block.slot].constants() == sorted(f"v{number}".encode() for number in range(20))
    assert [own.constants() for own in plan.dictionaries.values()] == [[b"w"]]
