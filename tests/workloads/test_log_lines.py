"""Made log lines: the same for a seed, and queries that find some of them."""

from __future__ import annotations

import fnmatch

from asc import Matcher, Schema
from workloads.log_lines import DDL, line_queries, log_lines


def test_queries_find_the_lines_that_have_their_fragments() -> None:
    lines, queries = log_lines(300), line_queries(400)
    matcher = Matcher(Schema.from_ddl(DDL))
    matcher.add_many((f"q{number:03}", query.where) for number, query in enumerate(queries))
    found = matcher.match(lines).to_pydict()
    rows = lines.to_pylist()
    expected = [
        (row, f"q{number:03}")
        for row, line in enumerate(rows)
        for number, query in enumerate(queries)
        if fnmatch.fnmatchcase(line["message"], f"*{'*'.join(query.fragments)}*")
        and (query.not_in is None or query.not_in not in line["message"])
        and query.low <= line["level"] <= query.high
    ]
    assert list(zip(found["row"], found["query"], strict=True)) == expected
    assert expected


def test_they_are_made_from_the_seed() -> None:
    assert log_lines(5).equals(log_lines(5))
    assert not log_lines(5).equals(log_lines(5, seed=2))
    queries = line_queries(1_000)
    assert queries == line_queries(1_000)
    assert {len(query.fragments) for query in queries} == {1, 2}
    assert {query.not_in is None for query in queries} == {True, False}
