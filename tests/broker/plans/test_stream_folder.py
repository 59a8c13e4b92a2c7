"""The taker of a stream's folder has every file that is in it, and gets none of the former holder's any more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from broker.errors import BrokerError
from broker.plans.binding import BatchBindings, write_durably
from broker.plans.stream_folder import CUBES, SNAPSHOT, stream_folder, take_folder, take_folders, takeovers_of


def planned(folder: Path, batch_id: int) -> None:
    """Write a batch into Spark's log of offsets."""
    log = folder / "spark" / "offsets"
    log.mkdir(parents=True, exist_ok=True)
    (log / str(batch_id)).write_text(f"v1\n{{}}\n{json.dumps({'t': {'0': 10 * batch_id}})}", "utf-8")


def bindings(folder: Path) -> BatchBindings:
    return BatchBindings(folder / "bindings", folder / "spark")


def test_it_has_the_name_of_its_stream_until_it_is_taken(tmp_path: Path) -> None:
    assert stream_folder(tmp_path, "s") == tmp_path / "s"
    for former, taken in (("s", "s~1"), ("s~1", "s~2")):
        write_durably(stream_folder(tmp_path, "s") / taken, "there")
        assert take_folder(tmp_path, "s") == stream_folder(tmp_path, "s") == tmp_path / taken
        assert (tmp_path / former).read_text("utf-8") == f"another daemon has taken this folder over: see {taken}\n"
    assert sorted(path.name for path in (tmp_path / "s~2").iterdir()) == ["s~1", "s~2"]
    # Another stream whose name begins alike is another one.
    assert stream_folder(tmp_path, "s.x") == tmp_path / "s.x"
    assert take_folder(tmp_path, "s.x") == tmp_path / "s.x~1"
    # Removed by hand, it begins anew, under a name that no other daemon has.
    shutil.rmtree(tmp_path / "s~2")
    assert stream_folder(tmp_path, "s") == tmp_path / "s~2"


def test_each_takeover_has_a_name_of_its_own_without_a_folder_too(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        assert take_folder(tmp_path, "s") == stream_folder(tmp_path, "s") == tmp_path / f"s~{number}"
        assert takeovers_of(stream_folder(tmp_path, "s")) == number
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "s~1", "s~2"]
    assert [takeovers_of(Path(name)) for name in ("s", "s.1", "s~10", "a~2/s")] == [0, 0, 10, 0]


def test_a_folder_that_the_former_owner_creates_meanwhile_is_taken_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Path.open

    def later(self: Path, *values: Any, **named: Any) -> Any:
        if self.name == "s" and not self.exists():
            self.mkdir()
            (self / "file").touch()
            monkeypatch.undo()
        return honest(self, *values, **named)

    monkeypatch.setattr(Path, "open", later)
    taken = take_folder(tmp_path, "s")
    assert taken == stream_folder(tmp_path, "s") == tmp_path / "s~1"
    assert (taken / "file").exists()
    assert (tmp_path / "s").is_file()


def test_cubes_are_taken_with_their_stream_and_after_it(tmp_path: Path) -> None:
    folders = ("s", SNAPSHOT, f"{CUBES}/s", f"{CUBES}/t.x")
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    take_folders(tmp_path, ["s", "other"])
    assert [(tmp_path / f"{name}~1").is_dir() for name in folders] == [True, True, True, False]
    # Without cubes too, a former leader can make no file of them any more.
    assert (tmp_path / CUBES / "other").is_file()
    # What the next leader finds as done in the folder of a stream is in its cubes.
    (tmp_path / CUBES).rename(tmp_path / "elsewhere")
    (tmp_path / CUBES).touch()
    with pytest.raises(OSError, match=CUBES):
        take_folders(tmp_path, ["s"])
    assert (tmp_path / "s~2").is_dir()


def test_what_was_bound_before_is_there_and_nothing_is_bound_by_the_former_name(tmp_path: Path) -> None:
    former = tmp_path / "s"
    stopped = bindings(former)
    planned(former, 0)
    stopped.bind(0, 7)
    planned(former, 1)
    own = bindings(take_folder(tmp_path, "s"))
    assert (own.last() or pytest.fail("nothing is bound")).version == 7
    # The one that stood still goes on: it binds batch 1 that it has planned, and runs batch 0 again.
    for batch_id in (0, 1):
        with pytest.raises(BrokerError, match="another daemon has taken it over: this one writes no more"):
            stopped.bind(batch_id, 7)
    with pytest.raises(FileExistsError):
        write_durably(former / "event-time.json", "{}")
    assert own.bind(1, 8).version == 8
    assert own.bind(0, 8).version == 7


def test_what_spark_makes_in_the_former_place_is_nobody_s(tmp_path: Path) -> None:
    former = tmp_path / "s"
    stopped = bindings(former)
    planned(former, 0)
    former.rename(tmp_path / "s~1")
    planned(former, 0)
    planned(former, 1)
    with pytest.raises(BrokerError, match="another daemon has taken it over"):
        stopped.bind(1, 7)
    assert take_folder(tmp_path, "s") == tmp_path / "s~2"
    assert bindings(stream_folder(tmp_path, "s")).last() is None


def test_a_file_that_a_stopped_daemon_has_open_is_not_the_next_one_s(tmp_path: Path) -> None:
    former = tmp_path / "s"
    former.mkdir()
    with (former / ".parked.json.new").open("w", encoding="utf-8") as stopped:
        taken = take_folder(tmp_path, "s")
        write_durably(taken / "parked.json", "own")
        stopped.write("another")
    assert (taken / "parked.json").read_text("utf-8") == "own"
