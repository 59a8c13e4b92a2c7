"""Tables of matching: computed columns."""

from __future__ import annotations

from typing import Any

from tools.figures.matching import TABLES


def lines(name: str, result: dict[str, Any]) -> list[list[str]]:
    text = TABLES[name]({name.removesuffix("-memory"): result})
    return [line.strip("| ").split(" | ") for line in text.splitlines() if "---" not in line]


def test_times_of_one_record_are_in_microseconds() -> None:
    row = {"workload": "D1", "queries": 1_000, "tuples_per_s": 2e6, "engine_ms": 0.0005, "text_ms": 250.0}
    titles, cells = lines("match", {"results": [{**row, "bytes_per_query": 612.4}]})
    assert dict(zip(titles, cells, strict=True)) == {
        "workload": "D1",
        "queries": "1,000",
        "tuples/s": "2,000,000",
        "us a tuple": "0.50",
        "bytes a query": "612",
        "compile from text": "0.25 s",
    }


def test_rivals_of_many_queries_are_ratios_and_small_batches_are_marked() -> None:
    row = {"workload": "alerts", "queries": 1_000, "pairs_us": 2.0, "scan_us": 8.0, "rows": 8_192}
    titles, full, short = lines("scale", {"batch": 8_192, "results": [row, {**row, "rows": 3_305}]})
    assert dict(zip(titles, full, strict=True))["time of scan / asc"] == "4 x"
    assert "time of brute force / asc" not in titles
    assert (full[1], short[1]) == ("1,000", "1,000 (3,305)")


def value_rows(chosen: str, **us: float) -> list[dict[str, Any]]:
    case = {
        "workload": "squawk, 1 a value",
        "queries": 100_000,
        "matches_a_record": 1.0,
        "one_more_ms": 3.0,
        "asked": 1.0,
    }
    return [{**case, "contender": name, "us": own, "chosen": name == chosen} for name, own in us.items()]


def test_the_choice_of_the_compiler_is_bold() -> None:
    result = {"results": value_rows("lists", bitmaps=1.25, lists=0.083)}
    titles, cells = lines("values", result)
    assert dict(zip(titles, cells, strict=True))["100,000 queries"] == "1.25 / **0.083**"
    assert cells.count("-") == 4
    assert lines("values-memory", result)[1] == ["squawk, 1 for each value", "1.00", "3.0 ms", "3.0 ms"]


def test_fences_are_held_against_the_better_of_shapelys_methods() -> None:
    times = {"asc": 0.5, "STRtree.query": 4.0, "STRtree, prepared": 3.0}
    titles, cells = lines(
        "spatial", {"results": [{"queries": 10, "contender": name, "us": us} for name, us in times.items()]}
    )
    assert dict(zip(titles, cells, strict=True))["time of shapely's faster method / asc"] == "6.0 x"
    assert "SedonaDB, us a position" not in titles


def test_beside_fences_a_part_that_was_not_run_is_excluded() -> None:
    through = {
        "rows": 1_000,
        "fences": 10,
        "median_s": {"fences": 0.5},
        "ratio": {"ratio": 1.2, "low": 1.1, "high": 1.3},
    }
    result = {"star": {"vertices": 100, "asc": 9.0, "GEOS": 90.0}, "spark": through, "http": None}
    assert TABLES["spatial-beside"]({"spatial": result}).splitlines()[2:] == [
        "| asc, a star of 100 vertices | 9.0 us a position |",
        "| GEOS with the same star as a prepared shape | 90 us a position |",
        "| `broker.match`, 10 fences, 1,000 records | 0.50 s |",
        (
            "| time of `broker.match` with these fences / with one plain predicate, 95 % interval "
            "| 1.20 (1.10 .. 1.30) x |"
        ),
    ]
