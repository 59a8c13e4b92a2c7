"""Predicates that ask for values: the same from a seed, of every column, and some are accepted by rows."""

from __future__ import annotations

from asc import Matcher
from workloads.drawn_values import DDL, SCHEMA, Drawn


def test_a_seed_gives_the_same_predicates_and_rows() -> None:
    def drawn() -> tuple[list[str], object]:
        own = Drawn(7, 50)
        return [own.predicate() for _ in range(50)], own.rows(20)

    assert drawn() == drawn()
    assert drawn()[0] != [Drawn(8, 50).predicate() for _ in range(50)]


def test_every_column_is_asked_for_and_rows_have_what_is_asked() -> None:
    own = Drawn(1, 40)
    wheres = list(dict.fromkeys(own.predicate() for _ in range(300)))
    assert {name for name in SCHEMA.arrow.names if any(f"{name} " in where for where in wheres)} == set(
        SCHEMA.arrow.names
    )
    rows = own.rows(500)
    assert all(column.null_count > 0 for column in rows.columns)
    matcher = Matcher(DDL, {f"q{number}": where for number, where in enumerate(wheres)})
    counts = [row["count"] for row in matcher.match(rows, by="query").to_pylist()]
    assert sum(count > 0 for count in counts) > len(wheres) // 2
