"""One daemon has a checkpoint folder, and a name by it."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from broker.daemon.checkpoint_lock import CheckpointLock
from broker.errors import BrokerError, CheckpointTakenError


def test_one_has_it_until_it_lets_go(tmp_path: Path) -> None:
    first, second = CheckpointLock(tmp_path / "new" / "folder"), CheckpointLock(tmp_path / "new" / "folder")
    first.take()
    assert (first.is_held, second.is_held) == (True, False)
    with pytest.raises(CheckpointTakenError, match="belongs to another running daemon: stop it, or name another"):
        second.take()
    assert not second.is_held
    first.release()
    first.release()
    second.take()
    assert second.is_held
    second.release()


def test_the_name_stays_with_the_folder(tmp_path: Path) -> None:
    one, other = CheckpointLock(tmp_path / "one"), CheckpointLock(tmp_path / "other")
    name = one.instance()
    assert CheckpointLock(tmp_path / "one").instance() == name
    assert other.instance() != name
    (tmp_path / "one" / "instance").write_bytes(b"\xff torn")
    again = one.instance()
    assert again not in (name, "")
    assert one.instance() == again


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerError, match="file/folder': cannot be written: Not a directory"):
        CheckpointLock(tmp_path / "file" / "folder").take()


def test_a_lock_is_taken_over_by_the_leader_of_the_holder_s_registry(tmp_path: Path) -> None:
    stopped, leader = CheckpointLock(tmp_path), CheckpointLock(tmp_path)
    stopped.take()
    name = stopped.instance()
    assert not leader.is_of("registry-1")
    stopped.mark("registry-1")
    assert leader.is_of("registry-1")
    assert not leader.is_of("registry-2")
    for name in ("s/bindings", ".cubes/s", ".snapshot"):
        (tmp_path / name).mkdir(parents=True)
    leader.take_over("registry-1", ["s", "other"])
    assert leader.is_of("registry-1")
    assert leader.is_held
    assert not leader.is_lost
    assert stopped.is_lost
    assert (tmp_path / "s~1" / "bindings").is_dir()
    assert (tmp_path / ".snapshot~1").is_dir()
    assert (tmp_path / ".cubes" / "s~1").is_dir()
    # It is held as any other, whatever becomes of the first one.
    assert leader.instance() != name
    for _ in range(2):
        with pytest.raises(CheckpointTakenError):
            CheckpointLock(tmp_path).take()
        stopped.release()
    # The next holder has not said yet what it serves.
    leader.release()
    stopped.take()
    assert not stopped.is_lost
    assert not leader.is_of("registry-1")


def test_a_lock_whose_file_is_removed_is_not_lost(tmp_path: Path) -> None:
    own = CheckpointLock(tmp_path)
    own.take()
    (tmp_path / "lock").unlink()
    assert not own.is_lost


def test_the_folders_of_one_that_did_not_let_go_are_taken_though_its_lock_is_free(tmp_path: Path) -> None:
    """On a shared file system a lock lapses where its host stands still, and is free as that of a killed process."""
    stopped, leader = CheckpointLock(tmp_path), CheckpointLock(tmp_path)
    (tmp_path / "s" / "bindings").mkdir(parents=True)
    stopped.take()
    stopped.mark("registry-1")
    lapse(stopped)
    leader.take_as_leader("registry-1", ["s"])
    assert (leader.is_held, leader.is_lost, stopped.is_lost) == (True, False, True)
    assert (tmp_path / "s~1" / "bindings").is_dir()
    with pytest.raises(CheckpointTakenError):
        CheckpointLock(tmp_path).take()
    # When it goes on and ends, the mark is the leader's.
    stopped.release()
    assert leader.is_of("registry-1")


def test_the_folders_of_one_that_let_go_keep_their_names(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    for _ in range(2):
        own = CheckpointLock(tmp_path)
        own.take_as_leader("registry-1", ["s"])
        assert not own.is_of("registry-1")
        own.mark("registry-1")
        own.release()
        assert not own.is_of("registry-1")
    assert [path.name for path in tmp_path.glob("s*")] == ["s"]


def test_one_that_did_not_serve_leaves_the_mark_of_one_that_did_not_let_go(tmp_path: Path) -> None:
    stopped, plain, leader = (CheckpointLock(tmp_path) for _ in range(3))
    (tmp_path / "s").mkdir()
    stopped.take()
    stopped.mark("registry-1")
    lapse(stopped)
    plain.take()
    assert not leader.is_of("registry-1")
    plain.release()
    leader.take_as_leader("registry-1", ["s"])
    assert (tmp_path / "s~1").is_dir()


def lapse(lock: CheckpointLock) -> None:
    assert lock._lock is not None
    fcntl.flock(lock._lock, fcntl.LOCK_UN)
