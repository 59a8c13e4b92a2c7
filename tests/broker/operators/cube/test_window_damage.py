"""Damaged former cells of windows: their cube is parked, their panes are gaps, and revisions go on without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asc.operators.cube.output import Output
from asc.operators.cube.revisions import RevisionLimits
from broker.errors import KafkaError
from broker.operators.cube.cube_state import CubeState
from tests.broker.operators.cube.kept_stream import BASE_US, MINUTE_US, batch
from tests.broker.operators.cube.window_rig import CUBE, LATE, Rig, at, minute, output, read, summaries

_FIRST_PANE = BASE_US // MINUTE_US


@pytest.fixture
def rig_of(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def rig(own: Output, rows: int = 100_000) -> Rig:
        made.append(Rig.of(tmp_path, own, limits=RevisionLimits(rows)))
        return made[-1]

    yield rig
    for one in made:
        one.keeper.close()


def damage(rig: Rig, column: str, place: int) -> None:
    """Change one byte of the only former cells, and start again."""
    ((data,),) = rig.keeper._store.execute(f"SELECT {column} FROM former_cells")
    changed = bytearray(data)
    changed[place] ^= 1
    rig.keeper._store.execute(f"UPDATE former_cells SET {column} = ?", (bytes(changed),))
    rig.start_again()


def parked(rig: Rig) -> CubeState:
    """Return the cube, which the writer parks when it comes to the damage."""
    (reason,) = rig.writer.write([LATE]).values()
    state = rig.keeper.snapshot.cube(LATE)
    assert state.parked == reason
    assert reason.startswith("former cells of windows of the pane of ")
    return state


@pytest.mark.parametrize("place", [-200, -1])
def test_damaged_former_cells_park_their_cube_and_their_panes_are_gaps(rig_of: Callable[..., Rig], place: int) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(1.5), at(7.5))
    rig.sent.fails_after = 0
    with pytest.raises(KafkaError):
        rig.commit(at(3.5, "UA"), at(4.5, "UA"))
    sent = len(rig.sent.rows)
    damage(rig, "data", place)
    reason = parked(rig).parked
    assert reason == f"former cells of windows of the pane of {minute(3)} are damaged"
    assert len(rig.sent.rows) == sent
    answer = rig.keeper.questions.query(LATE, {"by": [], "from": minute(2), "to": minute(6)})
    assert [(gap["from"], gap["to"]) for gap in answer["gaps"]] == [(minute(3), minute(5))]
    assert answer["rows"][0]["n"] == 2
    assert rig.keeper.questions.query(LATE, {"from": minute(0), "to": minute(3)})["whole"]
    rig.start_again()
    assert rig.keeper.snapshot.cube(LATE).parked == reason
    assert rig.keeper._store.execute("SELECT * FROM former_cells") == []
    rig.keeper.resume(LATE)
    # Late records that come later are written again, and say that their windows miss something.
    rows = rig.commit(at(4.6, "UA"), at(0.6))
    assert summaries(rows) == [
        (1, "B6", (2, 1)),
        (2, "B6", (3, 1)),
        (5, "UA", (3, 1)),
        (6, "UA", (2, 1)),
        *summaries(rows)[4:],
    ]
    assert [b'"whole":true' in (row.value or b"") for row in rows[:4]] == [True, True, False, False]


def test_damaged_panes_of_former_cells_make_gaps_of_all_their_windows(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]))
    rig.commit(at(0.5), at(7.5))
    rig.sent.fails_after = 0
    with pytest.raises(KafkaError):
        rig.commit(at(3.5, "UA"))
    damage(rig, "panes", 5)
    (gap,) = parked(rig).gaps
    assert (gap.first_us, gap.end_us) == (BASE_US + 2 * MINUTE_US, BASE_US + 5 * MINUTE_US)


def test_a_window_that_is_revised_in_part_gets_a_further_revision_after_damage(rig_of: Callable[..., Rig]) -> None:
    rig = rig_of(output(1, 1, cuboids=[["carrier"]]), rows=4)
    carriers = [f"C{number}" for number in range(5)]
    rig.commit(*(at(0.5, carrier) for carrier in carriers), at(5.5, "X"))
    rig.commit(*(at(0.6, carrier) for carrier in carriers))
    assert rig.windows.position.skipped == 2
    rig.topic.partitions[0].append(at(5.6, "X"))
    rig.topic.commit(rig.keeper, batch(11, 12), {LATE: CUBE})
    damage(rig, "data", -1)
    parked(rig)
    assert not rig.windows.position.is_within
    rig.keeper.resume(LATE)
    before = len(rig.sent.rows)
    for _ in range(3):
        rig.commit(at(0.7, "C0"), at(5.6, "X"))
    first = read(rig.sent.rows[before])
    assert (first[0], first[3]["revision"]) == (minute(1), 2)
    identities = [(row.key, row.identity) for row in rig.sent.rows]
    assert len(set(identities)) == len(identities)
