"""Compilation and change of plans: layout, sharing, bounds, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.executor import match
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan, is_renewal_due, part_of, renewed
from asc.plan.parts import parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Conjunct, Predicate
from workloads.synthetic import Workload, d1_workload, hem_workload, uniform_tuples

if TYPE_CHECKING:
    from conftest import ListsOf

A = PAttribute("a", pa.int32(), ("a",))
CITY = PAttribute("city", pa.string(), ("city",))
BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=256, bounded_regions=16, bounded_rows=0, exact_regions=0)


def over(low: int, attribute: PAttribute = A) -> Conjunct:
    return ((attribute, Constraint((((low, 1), None),))),)


def query(query_id: str, *conjuncts: Conjunct) -> Query:
    return Query(query_id, Predicate("", conjuncts))


def brute_force(workload: Workload, table: pa.Table) -> list[tuple[int, int]]:
    values = np.stack([column.to_numpy() for column in table.columns])
    accepted = np.ones((workload.queries, table.num_rows), dtype=np.bool_)
    for owner, attribute, low, high in zip(
        workload.owner, workload.attribute, workload.low, workload.high, strict=True
    ):
        accepted[owner] &= (values[attribute] >= low) & (values[attribute] <= high)
    rows, queries = np.nonzero(accepted.T)
    return list(zip(rows.tolist(), queries.tolist(), strict=True))


def pairs(plan: Plan, table: pa.Table) -> list[tuple[int, int]]:
    matches = match(plan, [table[attribute.sql] for attribute in plan.p_attributes], table.num_rows)
    return list(zip(matches.rows.tolist(), matches.queries.tolist(), strict=True))


@pytest.mark.parametrize("rows", [20_000])
@pytest.mark.parametrize(
    "options",
    [CompileOptions(), CompileOptions(always_exact=True), BLOCKS, replace(BLOCKS, exact_regions=256)],
    ids=["default", "exact", "bounded blocks", "sharp blocks"],
)
@pytest.mark.parametrize("workload", [d1_workload(1_000), hem_workload(1_000)], ids=["D1", "HEM"])
def test_workloads_match_as_by_brute_force(workload: Workload, options: CompileOptions, rows: int) -> None:
    table = uniform_tuples(rows, domain=workload.domain)
    plan = compile_plan(workload.standing_queries(), options)
    found = pairs(plan, table)
    assert found == brute_force(workload, table)
    assert found


@pytest.mark.parametrize("options", [CompileOptions(), replace(BLOCKS, exact_regions=256)], ids=["exact", "blocks"])
def test_a_part_of_a_plan_accepts_what_the_whole_accepts(options: CompileOptions) -> None:
    workload = d1_workload(1_000)
    queries = [*workload.standing_queries(), query("all"), Query("every", Predicate("", (), match_all=True))]
    plan = change_plan(compile_plan(queries, options, version=7), [query("new", *queries[0].predicate.conjuncts)])
    table = uniform_tuples(2_000, domain=workload.domain)
    wanted = {"every", "new", queries[3].id, queries[700].id}
    part = part_of(plan, [*wanted, "missing"])

    def named(own: Plan) -> set[tuple[int, str]]:
        return {(row, own.query_ids[place].as_py()) for row, place in pairs(own, table)}

    assert named(part) == {(row, own) for row, own in named(plan) if own in wanted}
    assert (set(part.query_ids.to_pylist()), part.version) == (wanted, plan.version)


def test_small_sets_are_one_block_of_exact_regions() -> None:
    plan = compile_plan(d1_workload(100).standing_queries())
    assert len(plan.blocks) == 1
    assert all(grid.exact and grid.regions == 2 * len(grid.constants()) + 1 for grid in plan.grids)


def test_always_exact_is_one_block_whatever_the_number() -> None:
    plan = compile_plan(hem_workload(2_000).standing_queries(), CompileOptions(always_exact=True))
    assert len(plan.blocks) == 1
    assert all(grid.exact for grid in plan.grids)


def test_more_than_that_is_blocks_of_bounded_regions() -> None:
    plan = compile_plan(hem_workload(2_000).standing_queries(), BLOCKS)
    assert [block.conjunct_count for block in plan.blocks] == [250] * 8
    assert all(grid.regions == 16 for grid in plan.grids)


def test_too_many_exact_regions_are_refused() -> None:
    queries = [query(f"q{number:05d}", over(2 * number)) for number in range(33_000)]
    with pytest.raises(PlanError, match="too many exact regions"):
        compile_plan(queries, CompileOptions(always_exact=True))


def test_a_change_shares_the_blocks_it_does_not_touch() -> None:
    workload = hem_workload(1_000)
    plan = compile_plan(workload.standing_queries(), BLOCKS)
    removed = change_plan(plan, remove=["q000010"])
    changed = change_plan(removed, add=[query("new", over(3, PAttribute("a0", pa.int32(), ("a0",))))])
    assert (removed.version, changed.version) == (plan.version + 1, plan.version + 2)
    for before, after in ((plan, removed), (removed, changed)):
        assert sum(own is not known for own, known in zip(after.blocks, before.blocks, strict=True)) == 1
    assert "new" in changed
    assert "q000010" not in changed
    assert "q000010" in plan


def test_many_changes_end_in_the_plan_of_what_stands() -> None:
    workload = hem_workload(1_200)
    queries = workload.standing_queries()
    table = uniform_tuples(3_000, domain=workload.domain)
    for share in (0.25, 1_000.0):
        plan = compile_plan(queries[:400], replace(BLOCKS, rebuild_share=share))
        for start in range(400, 1_200, 100):
            plan = change_plan(plan, add=queries[start : start + 100])
        assert pairs(plan, table) == brute_force(workload, table)
        assert max(block.capacity for block in plan.blocks) <= 256
        plan = change_plan(plan, remove=[query.id for query in queries if query.id != "q000007"])
        assert plan.query_ids.to_pylist() == ["q000007"]
        assert {row for row, _ in pairs(plan, table)} == {row for row, q in brute_force(workload, table) if q == 7}


def test_removal_of_everything_leaves_an_empty_plan() -> None:
    plan = compile_plan([query("q", over(1))])
    empty = change_plan(plan, remove=["q"])
    assert (len(empty), len(empty.blocks), len(empty.p_attributes)) == (0, 0, 0)
    assert len(match(empty, [], 5)) == 0
    assert change_plan(empty, add=[query("q", over(1))]).query_ids.to_pylist() == ["q"]


def test_growth_adds_p_attributes_and_string_constants_between_others(lists_of: ListsOf) -> None:
    names = [f"city {number:03d}" for number in range(0, 300, 3)]

    def at_least(name: str) -> Conjunct:
        return ((CITY, Constraint((((name.encode(), 0), None),))),)

    plan = compile_plan([query(name, at_least(name)) for name in names], replace(BLOCKS, rebuild_share=1_000.0))
    between = [f"city {number:03d}" for number in range(1, 300, 3)]
    for name in between:
        plan = change_plan(plan, add=[query(name, at_least(name), over(5))])
    values = ["city 000", "city 100x", "city", "zzz", None]
    columns = {"city": pa.array(values), "a": pa.array([0, 0, 0, 0, 6], pa.int32())}
    found = lists_of(match(plan, [columns[p.sql] for p in plan.p_attributes], 5), plan.query_ids)
    everyone = sorted([*names, *between])
    assert found == [[n for n in everyone if v is not None and n <= v] if v is not None else between for v in values]


def test_expressions_for_spark_are_bounded() -> None:
    def expression(number: int) -> Query:
        return query(f"q{number}", over(0, PAttribute(f"a + {number}", pa.int32())))

    options = CompileOptions(spark_attributes=3)
    plan = compile_plan([expression(number) for number in range(3)], options)
    with pytest.raises(PlanError, match="too many expressions for Spark to compute 4"):
        change_plan(plan, add=[expression(3)])
    moved = change_plan(plan, add=[expression(3)], remove=["q0"])
    assert [p.sql for p in moved.p_attributes] == ["a + 1", "a + 2", "a + 3"]
    with pytest.raises(PlanError, match="at most 3 different ones"):
        compile_plan([expression(number) for number in range(4)], options)


def test_the_bound_on_expressions_holds_in_large_plans_too() -> None:
    queries = hem_workload(1_000).standing_queries()
    plan = compile_plan(queries, replace(BLOCKS, spark_attributes=2))
    for number in range(30):
        added = query(f"new{number}", over(0, PAttribute(f"a0 + {number}", pa.int32())))
        plan = change_plan(plan, add=[added], remove=[f"new{number - 2}"] if number > 1 else [])
    with pytest.raises(PlanError, match="too many expressions"):
        change_plan(plan, add=[query("more", over(0, PAttribute("a0 * 2", pa.int32())))])
    assert len(plan.p_attributes) < 20 + 2 + 12


@pytest.mark.parametrize(
    ("add", "remove", "message"),
    [
        ([query("x", over(1)), query("x", over(2))], [], "query id given twice 'x'"),
        ([], ["nobody"], "unknown query 'nobody'"),
    ],
)
def test_refused_changes(add: list[Query], remove: list[str], message: str) -> None:
    plan = compile_plan([query("q", over(1))])
    with pytest.raises(PlanError, match=message):
        change_plan(plan, add, remove)
    assert plan.query_ids.to_pylist() == ["q"]


def test_an_id_given_twice_is_refused() -> None:
    with pytest.raises(PlanError, match="query id given twice 'q'"):
        compile_plan([query("q", over(1)), query("q", over(2))])


def test_the_order_of_queries_does_not_matter() -> None:
    queries = d1_workload(50).standing_queries()
    one, other = compile_plan(queries), compile_plan(reversed(queries))
    assert [part.to_bytes() for part in parts_of(one)] == [part.to_bytes() for part in parts_of(other)]


def in_city(query_id: str, city: str) -> Query:
    at_least = Constraint((((city.encode(), 0), None),))
    return query(
        query_id, ((CITY, at_least), *over(1)), ((CITY, Constraint((((city.encode(), 0), (city.encode(), 1)),))),)
    )


@pytest.mark.parametrize("direction", ["up", "down", "inwards"])
def test_constants_between_which_no_label_is_left_do_not_compile_a_plan_anew(
    direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asc.keys.dictionary._LABELS", 4_096)
    monkeypatch.setattr("asc.keys.dictionary._SPREAD", 3_072)
    monkeypatch.setattr("asc.keys.dictionary._STEP", 16)
    first = [in_city(f"q{i:03d}", f"m{i:03d}") for i in range(100)]
    plan = compile_plan(first, replace(BLOCKS, exact_regions=4))
    matrices = [block.matrix for block in plan.blocks[:-1]]
    dictionary, relabelled, known = plan.dictionaries[plan.p_attributes.index(CITY)], 0, parts_of(plan)
    added = []
    for step in range(60):
        places = {"up": f"z{step:03d}", "down": f"a{999 - step}", "inwards": "m050" + "a" * (60 - step)}
        city = places[direction]
        added.append(in_city(f"x{step:03d}", city))
        plan = change_plan(plan, added[-1:], postpones=True)
        known = parts_of(plan, known)
        now = plan.dictionaries[plan.p_attributes.index(CITY)]
        label = dictionary.labels_by_constant()
        relabelled += any(label[constant] != now.label(constant) for constant in label)
        dictionary = now
    assert relabelled >= (direction != "up")
    assert plan.changes == 60
    assert all(block.matrix is matrix for block, matrix in zip(plan.blocks, matrices, strict=False))
    cities = sorted({f"m{i:03d}" for i in range(100)} | {"", "m050a", "zz", "~"} | {f"z{i:03d}" for i in range(60)})
    table = pa.table({"a": pa.array([0, 5] * len(cities), pa.int32()), "city": [c for c in cities for _ in range(2)]})
    fresh = compile_plan([*first, *added])
    assert pairs(plan, table) == pairs(plan_of(known), table) == pairs(fresh, table)
    assert pairs(renewed(plan), table) == pairs(fresh, table)
    assert renewed(plan).changes == 0


def test_what_is_postponed_is_due_until_it_is_done() -> None:
    queries = hem_workload(1_200).standing_queries()
    plan = compile_plan(queries[:800], BLOCKS)
    assert not is_renewal_due(plan)
    grown = plan
    for low in range(800, 1_100, 100):
        grown = change_plan(grown, queries[low : low + 100], postpones=True)
    assert grown.changes == 300
    assert is_renewal_due(grown)
    assert change_plan(grown, queries[1_100:1_101]).changes == 0
    fresh = renewed(grown)
    assert not is_renewal_due(fresh)
    assert fresh.version == grown.version
    assert fresh.query_ids == grown.query_ids
    # So many at once are compiled at once.
    assert change_plan(plan, queries[800:1_100], postpones=True).changes == 0


def of_city(name: bytes) -> Conjunct:
    return ((CITY, Constraint((((name, 0), (name, 1)),))),)


EXTREMES: dict[str, Callable[[int], Query]] = {
    "all the same": lambda i: query(f"q{i:05d}", over(5)),
    "all accept everything": lambda i: Query(f"q{i:05d}", Predicate("", (), match_all=True)),
    "all accept nothing": lambda i: Query(f"q{i:05d}", Predicate("", ())),
    "a constant each": lambda i: query(f"q{i:05d}", of_city(b"c%06d" % i)),
    "a range each": lambda i: query(f"q{i:05d}", ((A, Constraint((((i, 0), (i, 1)),))),)),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_sets_take_no_more_memory_than_others(name: str) -> None:
    plan = compile_plan([EXTREMES[name](i) for i in range(20_000)])
    assert plan.nbytes < 500 * len(plan)
    table = pa.table({"a": pa.array([3, 9_999], pa.int32()), "city": ["c000003", "c009999"]})
    found = [query for _, query in pairs(plan, table)]
    every = list(range(20_000))
    assert (
        found
        == {
            "all the same": every,
            "all accept everything": every * 2,
            "all accept nothing": [],
            "a constant each": [3, 9_999],
            "a range each": [3, 9_999],
        }[name]
    )


def test_queries_of_a_p_attribute_each_are_refused_with_the_bound() -> None:
    columns = [PAttribute(f"a{i}", pa.int32(), (f"a{i}",)) for i in range(4_200)]
    with pytest.raises(PlanError, match="too many p-attributes 4200: at most 4095"):
        compile_plan([query(f"q{i}", over(1, column)) for i, column in enumerate(columns)])


@pytest.mark.nightly
def test_after_many_changes_a_plan_is_as_small_as_one_compiled_fresh() -> None:
    rng = np.random.default_rng(5)
    pool = hem_workload(4_000).standing_queries()
    standing = dict.fromkeys(range(2_000))
    plan = compile_plan([pool[i] for i in standing], BLOCKS)
    for step in range(100):
        gone = rng.choice(list(standing), 100, replace=False).tolist()
        come = rng.choice([i for i in range(4_000) if i not in standing], 100, replace=False).tolist()
        plan = change_plan(plan, [pool[i] for i in come], [pool[i].id for i in gone], postpones=True)
        standing = dict.fromkeys((standing.keys() - gone) | set(come))
        if is_renewal_due(plan):
            plan = renewed(plan)
        if step % 10 == 9:
            fresh = compile_plan([pool[i] for i in standing], BLOCKS)
            assert plan.query_ids == fresh.query_ids
            assert plan.nbytes <= 1.2 * fresh.nbytes


def test_a_constant_without_a_label_beside_a_new_p_attribute_compiles_nothing_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("asc.keys.dictionary._LABELS", 1_024)
    monkeypatch.setattr("asc.keys.dictionary._SPREAD", 768)
    plan = compile_plan([in_city(f"q{i:03d}", f"m{i:03d}") for i in range(100)], BLOCKS)
    other = PAttribute("other", pa.int32(), ("other",))
    for step in range(6):
        city = (f"m050-{9 - step}".encode(), 0), (f"m050-{9 - step}".encode(), 1)
        both = ((CITY, Constraint((city,))), *over(1, other))
        plan = change_plan(plan, [query(f"x{step}", both)], postpones=True)
    assert plan.changes == 6
