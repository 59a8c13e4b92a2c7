"""The ledger of cubes finds each thing that can be wrong, with both values, and nothing where all is right."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.broker.operators.cube.kept_stream import MINUTE_US, Record
from tests.tools.faults.counted_rig import CountedRig
from tools.faults.counted_cubes import LATE as ROLLED
from tools.faults.cube_ledger import CubeAudit, is_equal

RECORDS: list[Record] = [
    (("B6", "UA", None)[n % 3], "JFK", None if n % 7 == 0 else n, None if n == 11 else n * MINUTE_US // 5)
    for n in range(24)
]
ACCOUNTED = [
    *((f"29 counted by its {source}", 23) for source in ("line", "status")),
    *((f"30 accepted by its {source}", 24) for source in ("line", "status")),
]
RigOf = Callable[..., CountedRig]


@pytest.fixture
def rig_of(tmp_path: Path) -> Iterator[RigOf]:
    made: list[CountedRig] = []

    def rig(records: Sequence[Record] = RECORDS, *, batches: int = 4) -> CountedRig:
        made.append(CountedRig(tmp_path, records))
        for first in range(0, 6 * batches, 6):
            made[-1].commit(first, first + 6)
        return made[-1]

    yield rig
    for one in made:
        one.keeper.close()


def test_a_cube_that_counts_each_record_once_is_sound(rig_of: RigOf) -> None:
    assert rig_of().wrong() == []


def test_late_records_are_counted_and_told(rig_of: RigOf) -> None:
    late: list[Record] = [("UA", "LAX", 100, MINUTE_US // 2)] * 6
    rig = rig_of([*RECORDS, *late], batches=5)
    assert rig.keeper.snapshot.status(next(iter(rig.keeper.snapshot.cubes)))["late"] == 6
    assert rig.wrong() == []


def test_a_piece_that_is_lost_is_found_with_group_and_both_values(rig_of: RigOf, tmp_path: Path) -> None:
    rig = rig_of()
    rig.keeper.close()
    connection = sqlite3.connect(tmp_path / "cubes.sqlite")
    connection.execute("DELETE FROM pieces WHERE number = (SELECT max(number) FROM pieces)")
    connection.commit()
    connection.close()
    rig.reopen()
    found = rig.wrong()
    assert 'cube late by (carrier), all time, group {"carrier": "B6"}: n is 7, by DuckDB 8' in found
    assert "cube late by (), all time, group {}: most is 19, by DuckDB 23" in found
    # Of closed panes alone, and of the accounting line, nothing is wrong.
    assert not any("accepted" in line for line in found)


def test_a_batch_that_is_counted_twice_is_found(rig_of: RigOf) -> None:
    rig = rig_of(batches=3)
    rig.commit(18, 24, times=2)
    found = rig.wrong()
    assert "cube late by (), all time, group {}: n is 29, by DuckDB 23" in found
    expected = {f"cube late: {source}, by DuckDB {number}" for source, number in ACCOUNTED}
    assert expected <= set(found)


def test_a_batch_that_is_missing_is_found_where_no_gap_tells_of_it(rig_of: RigOf) -> None:
    rig = rig_of(batches=2)
    rig.commit(18, 24)
    found = rig.wrong()
    assert "cube late, partition 0: offsets [(0, 12), (18, 24)] are folded, by the books [(0, 24)]" in found
    assert any(line.startswith('cube late: a gap {"from": ') for line in found)
    # The same offsets as in the books are right: the records are missing, and told.
    paused = {0: [(0, 12), (18, 24)]}
    assert rig.wrong(paused, slack_us=2 * MINUTE_US) == []
    rig.changed = {"whole": True}
    assert any("whole is True with gaps" in line for line in rig.wrong(paused, slack_us=2 * MINUTE_US))
    rig.changed = {"whole": True, "gaps": []}
    found = rig.wrong(paused, slack_us=2 * MINUTE_US)
    assert "cube late: no gap at 2013-07-10T00:02:24Z, where a record is missing" in found


def test_a_gap_that_is_too_long_is_found(rig_of: RigOf) -> None:
    rig = rig_of()
    rig.changed = {"whole": False, "gaps": [{"from": None, "to": None, "reason": "paused"}]}
    assert "by the books no record is missing there" in rig.wrong()[0]


def test_rows_that_are_too_many_and_too_few_are_found(rig_of: RigOf) -> None:
    rig = rig_of()
    rig.changed = {"rows": []}
    assert 'group {"carrier": "B6"}: no row, by DuckDB {"n": 8, ' in "\n".join(rig.wrong())
    row = {"group": {"carrier": "XX"}, "n": 1}
    rig.changed = {"rows": [row, row]}
    found = rig.wrong()
    assert 'cube late: group {"carrier": "XX"} has two rows' in found
    assert any('group {"carrier": "XX"}: {"n": 1}, by DuckDB no row' in line for line in found)


def test_sums_of_doubles_are_compared_to_the_last_bit() -> None:
    addends = [0.1, 0.2, 0.3, None]
    exact = math.fsum([0.1, 0.2, 0.3])
    assert is_equal(ROLLED, "drift", exact, addends)
    assert is_equal(ROLLED, "drift", math.nextafter(exact, 1), addends)
    assert not is_equal(ROLLED, "drift", exact + 1e-9, addends)
    assert not is_equal(ROLLED, "drift", None, addends)
    assert is_equal(ROLLED, "drift", None, [None])
    assert not is_equal(ROLLED, "drift", 0.0, [None])
    assert not is_equal(ROLLED, "n", 1, 2)


def test_audits_add_up() -> None:
    found = CubeAudit.of([CubeAudit([], 3, records=5, late=1), CubeAudit(["n is 1, by DuckDB 2"], 4, missed=2)])
    text = "7 values of cubes and 0 of windows over 5 records (1 late, 2 missed in pauses); "
    assert str(found) == f"{text}1 differences: n is 1, by DuckDB 2"
    assert not found.sound
    assert str(CubeAudit()).endswith("equal to DuckDB's")
