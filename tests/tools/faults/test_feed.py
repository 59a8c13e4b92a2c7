"""The numbered records are the same ones each time, and of every kind."""

from __future__ import annotations

import json

from tools.faults.feed import COLUMNS, record_of


def test_a_number_has_one_record() -> None:
    assert [record_of(number) for number in range(300)] == [record_of(number) for number in range(300)]


def test_they_are_of_every_kind() -> None:
    records = [record_of(number) for number in range(1, 101)]
    fields = [json.loads(value) for _, value, _ in records]
    assert all(found.keys() == COLUMNS.keys() for found in fields)
    assert {found["n"] for found in fields} == set(range(1, 101))
    for name in ("g", "s", "d"):
        assert None in {found[name] for found in fields}
    assert None in {key for key, _, _ in records}
    assert {len(headers) for _, _, headers in records} == {1, 2, 3}
    assert record_of(0)[1] == b"{not json 0"
