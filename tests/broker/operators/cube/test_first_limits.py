"""Windows that are written for the first time: few in each commit, all in the end, and the same after a fault."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from asc.operators.cube.output import Output
from asc.operators.cube.revisions import RevisionLimits
from broker.errors import KafkaError
from broker.operators.cube.first_limits import FIRST_CELLS_MAX, FIRST_ROWS_MAX, FIRST_WINDOWS_MAX, FirstLimits
from tests.broker.operators.cube.kept_stream import MINUTE_US, Record, batch
from tests.broker.operators.cube.window_rig import Rig, at, check, output, summaries


@pytest.fixture
def rig_of(tmp_path: Path) -> Iterator[Callable[..., Rig]]:
    made: list[Rig] = []

    def rig(own: Output, **limits: int) -> Rig:
        made.append(Rig.of(tmp_path, own, first_limits=FirstLimits(**limits)))
        return made[-1]

    yield rig
    for one in made:
        one.keeper.close()


@pytest.mark.parametrize("limits", [{"rows": 4}, {"windows": 4}, {"cells": 8}])
def test_a_commit_writes_no_more_windows_for_the_first_time_than_it_may(
    rig_of: Callable[..., Rig], limits: dict[str, int]
) -> None:
    assert FirstLimits() == FirstLimits(FIRST_ROWS_MAX, FIRST_WINDOWS_MAX, FIRST_CELLS_MAX)
    rig = rig_of(output(2, 1, cuboids=[["carrier"]]), **limits)
    rows = rig.commit(*(at(number + 0.5) for number in range(20)))
    ends = [own[0] for own in summaries(rows)]
    for _ in range(9):
        # Another call before the next commit, and a start, write no more of them.
        assert rig.writer.write([rig.id]) == {}
        rig.start_again()
        assert rig.writer.write([rig.id]) == {}
        assert len(rig.sent.rows) == len(ends)
        # A record that is late joins the windows that are not written yet, and revises the others.
        rows = rig.commit(at(18.6), at(19.5))
        assert len(rows) <= 5
        ends += [own[0] for own in summaries(rows)]
    assert [end for end, row in zip(ends, rig.sent.rows, strict=True) if row.kind == "window"] == list(range(1, 20))
    assert not rig.windows.is_behind
    check(rig)


times = st.integers(0, 12 * MINUTE_US)
record = st.tuples(st.sampled_from(["B6", "UA", None]), st.just("JFK"), st.integers(-3, 3), times)
steps = st.lists(
    st.tuples(
        st.lists(record, min_size=1, max_size=5), st.integers(0, 8 * MINUTE_US), st.integers(-1, 8), st.integers(0, 2)
    ),
    min_size=1,
    max_size=7,
)
first_limits = st.builds(FirstLimits, st.integers(1, 9), st.integers(1, 6), st.integers(1, 30))
revision_limits = st.builds(RevisionLimits, st.integers(2, 9), st.integers(1, 6), st.integers(1, 60))


@pytest.mark.timeout(1_800)
def test_all_windows_come_to_be_those_of_duckdb_and_faults_change_no_row(full_size: bool) -> None:
    @settings(
        max_examples=200 if full_size else 10,
        phases=(Phase.generate,),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(
        steps=steps,
        shape=st.sampled_from([(1, 1), (4, 1), (6, 2), (5, 2)]),
        emit=st.sampled_from(["all", "changes"]),
        first=first_limits,
        revised=revision_limits,
    )
    def run(
        steps: list[tuple[list[Record], int, int, int]],
        shape: tuple[int, int],
        emit: str,
        first: FirstLimits,
        revised: RevisionLimits,
    ) -> None:
        rows = []
        for has_faults in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                rig = Rig.of(Path(folder), output(*shape, emit), limits=revised, first_limits=first)
                clock_us = 0
                for records, step_us, fault, calls in steps:
                    clock_us += step_us
                    rig.sent.fails_after = fault if has_faults and fault >= 0 else None
                    commit(rig, [(*one[:3], (one[3] or 0) + clock_us) for one in records])
                    for _ in range(calls):
                        rig.sent.fails_after = fault if has_faults and fault >= 0 else None
                        write_left(rig)
                drain(rig)
                check(rig)
                rows.append({(row.identity, row.key): row.value for row in rig.sent.rows})
                if not has_faults:
                    assert len(rows[0]) == len(rig.sent.rows)
                rig.keeper.close()
        assert rows[0] == rows[1]

    run()


def commit(rig: Rig, records: list[Record]) -> None:
    """Commit a batch, again after a start where the topic does not take its windows."""
    try:
        rig.commit(*records)
    except KafkaError:
        rig.start_again()
        own = rig.topic.partitions[0]
        rig.commit_interval(batch(len(own) - len(records), len(own)))
    rig.sent.fails_after = None


def write_left(rig: Rig) -> None:
    """Write what the commit has left, again after a start where the topic does not take it."""
    try:
        assert rig.writer.write_left([rig.id]) == {}
    except KafkaError:
        rig.start_again()
        assert rig.writer.write([rig.id]) == {}
    rig.sent.fails_after = None


def drain(rig: Rig) -> None:
    """Commit batches of one record until no window and no revision is left."""
    newest: Record = ("B6", "JFK", 1, max(one[3] or 0 for one in rig.records))
    for _ in range(300):
        if not rig.windows.is_behind and not rig.windows.changes:
            return
        rig.commit(newest)
    raise AssertionError("the windows do not end")
