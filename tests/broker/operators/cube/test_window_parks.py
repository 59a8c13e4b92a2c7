"""Cubes whose windows cannot be written: parked with the reason, which is that of the gap, until they are resumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from asc.operators.cube.windows import Windows
from broker.kafka.cluster import KafkaCluster
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.window_sender import WindowSender
from tests.broker.operators.cube.kept_stream import Record, batch, just_after
from tests.broker.operators.cube.test_folder_windows import batch_of, folder_of, query_of
from tests.broker.operators.cube.window_rig import LATE, Rig, Sent, at, minute, output, summaries

REASON = "topic 'asc.late': takes no row so large"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    own = Rig.of(tmp_path, output(1, 1, cuboids=[["carrier"]]))
    yield own
    own.keeper.close()


def commit(rig: Rig, *records: Record) -> dict[str, str]:
    """Commit a batch, and return the refused windows with the reasons."""
    own = rig.topic.partitions[0]
    first = len(own)
    own += records
    rig.topic.commit(rig.keeper, batch(first, len(own)), {rig.id: rig.cube})
    return dict(rig.writer.write([rig.id]))


def gaps(rig: Rig) -> list[tuple[str | None, str | None, str]]:
    found = rig.keeper.questions.query(LATE, {"live": True})["gaps"]
    return [(gap["from"], gap["to"], gap["reason"]) for gap in found]


def test_a_row_that_is_too_large_parks_its_cube_with_the_reason_until_it_is_resumed(rig: Rig) -> None:
    rig.sent.value_bytes = 10
    assert commit(rig, at(0.5), at(2)) == {"late": REASON}
    # The query leaves the plan, and the daemon starts again.
    rig.keeper.pause(["late"])
    rig.start_again()
    assert rig.keeper.snapshot.status(LATE)["parked"] == REASON
    assert gaps(rig) == [(minute(2), None, REASON)]
    assert commit(rig, at(3)) == {}
    rig.sent.value_bytes = None
    rig.keeper.resume(LATE)
    assert rig.keeper.snapshot.status(LATE)["parked"] is None
    rows = rig.commit(at(4.5))
    # Windows from before the park are whole, as they were.
    assert summaries(rows) == [(1, "B6", (1, 0)), (2, "B6", None), (3, "B6", (1, 0)), (4, "B6", None)]
    assert [b'"whole":true' in (row.value or b"") for row in rows] == [True, False, False, False]
    assert gaps(rig) == [(minute(2), just_after(4.5), REASON)]


def test_an_error_of_its_windows_parks_a_cube_with_the_reason(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no more")

    monkeypatch.setattr(Windows, "rows", fail)
    reason = "its windows cannot be computed, ValueError: no more"
    assert commit(rig, at(0.5), at(2)) == {"late": reason}
    assert (rig.keeper.snapshot.status(LATE)["parked"], gaps(rig)) == (reason, [(minute(2), None, reason)])
    # The stream logs the error; here is only where it was.
    assert [own.levelname for own in caplog.records] == ["WARNING"]
    assert "ValueError: no more" in caplog.text


def test_revisions_of_a_parked_cube_that_are_refused_are_sent_once(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.commit(at(0.5), at(0.5, "UA"), at(2))
    rig.topic.partitions[0] += [at(0.6), at(0.6, "UA")]
    rig.topic.commit(rig.keeper, batch(3, 5), {rig.id: rig.cube})
    rig.keeper.park(LATE, "it has enough")
    rig.sent.value_bytes = 10
    assert rig.writer.write_left([LATE]) == {LATE: "it has enough"}
    assert "windows of cube late are not written: topic 'asc.late': takes no row so large" in caplog.text
    rig.sent.value_bytes, count = None, len(rig.sent.rows)
    assert rig.writer.write_left([LATE]) == {}
    assert len(rig.sent.rows) == count
    rig.keeper.resume(LATE)
    assert rig.writer.write_left([LATE]) == {}
    assert summaries(rig.sent.rows[count:])[:2] == [(1, "B6", (2, 1)), (1, "UA", (2, 1))]


class FolderRun:
    """A folder of one cube that writes windows, without Kafka."""

    def __init__(self, path: Path) -> None:
        self.query, self.sent = query_of("asc.late"), Sent()
        self.folder: CubeFolder = folder_of(path, cast(KafkaCluster, None))
        self.folder._sender = cast(WindowSender, self.sent)

    def set_registered(self, version: int, *, is_parked: bool = False) -> None:
        planned = {} if is_parked else {"late": self.query}
        self.folder.set_registered(
            {"late": self.query.since}, planned, version, {"late": "is parked"} if is_parked else {}
        )

    def commit(self, first: int, *records: Record) -> dict[str, str]:
        return dict(self.folder.commit(batch_of(first, *records, queries=[self.query])))

    def status(self) -> dict[str, Any]:
        keeper = self.folder.keeper
        (cube,) = keeper.snapshot.cubes
        return keeper.snapshot.status(cube)


@pytest.mark.parametrize("has_left_the_plan", [True, False])
def test_a_query_that_is_registered_anew_continues_with_the_windows_that_were_refused(
    tmp_path: Path, has_left_the_plan: bool
) -> None:
    own = FolderRun(tmp_path)
    own.set_registered(1)
    own.sent.value_bytes = 10
    assert own.commit(0, at(0.5), at(2.5)) == {"late": REASON}
    assert own.folder.write_left() == {}
    own.sent.value_bytes = None
    if has_left_the_plan:
        own.set_registered(2, is_parked=True)
        assert (own.status()["parked"], own.status()["gaps"][0]["reason"]) == (REASON, REASON)
        assert own.folder.write_left() == {}
        assert own.sent.rows == []
        own.set_registered(3)
        # No batch follows.
        for _ in range(2):
            assert own.folder.write_left() == {}
        assert summaries(own.sent.rows) == [(1, "B6", (1, 0)), (2, "B6", None)]
    # Records that are late for these windows change none of their first rows.
    assert own.commit(2, at(0.6), at(3.5)) == {}
    assert summaries(own.sent.rows)[0] == (1, "B6", (1, 0))
    assert (1, "B6", (2, 1)) in summaries(own.sent.rows)
    assert (own.status()["parked"], own.status()["counted"]) == (None, 4)
    own.folder.close()
