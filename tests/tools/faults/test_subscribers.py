"""What the subscribers ask for is read alike by DuckDB and by the broker, and is of every kind."""

from __future__ import annotations

import random

from asc.predicate import normalise
from asc.schema import Schema
from tools.faults.delivery_ledger import Published, duckdb_oracle
from tools.faults.feed import COLUMNS, DDL, record_of
from tools.faults.subscribers import predicate


def test_each_predicate_is_one_and_accepts_some_of_the_records() -> None:
    random_ = random.Random(1)
    wheres = {predicate(random_) for _ in range(200)}
    records = [Published(0, number, *record_of(number)[:2]) for number in range(2_000)]
    oracle, _ = duckdb_oracle(records, COLUMNS)
    accepted = {where: int(oracle(where).sum()) for where in wheres}
    for where in wheres:
        assert normalise(where, Schema.from_ddl(DDL)).text == where
    assert sum(count > 0 for count in accepted.values()) > 0.9 * len(wheres)
    assert max(accepted.values()) < len(records)
