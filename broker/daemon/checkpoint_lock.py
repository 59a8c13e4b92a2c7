"""The lock by which the checkpoint folder belongs to one running daemon."""

from __future__ import annotations

import fcntl
import os
import re
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from broker.errors import BrokerError, CheckpointTakenError
from broker.plans.binding import write_durably
from broker.plans.stream_folder import take_folders

_NAME = "spark.checkpoint_dir"
_OWNER_BYTES = 1_000
_NOT_LEFT = b"-"
"""The mark that a new holder writes into the lock file if the previous holder did not release the lock. The new holder
later replaces this mark by the id of its registry.
"""


class CheckpointLock:
    """The lock on the checkpoint folder. The lock ends with the process that holds it, and the next leader may take it
    over.

    Invariant: if the file system supports locks, at most one lock on a folder is held and not lost. The lock is on the
    file that has the name ``lock``. A takeover gives this name to another file that was locked before. ``mark`` writes
    the id of the registry that the holder serves into the file. Only the leader of that registry may take the lock
    over, because then the holder is not the leader any more, and serves no other registry. A release removes the mark.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "lock"
        self._lock: int | None = None
        self._is_marked = False

    @property
    def is_held(self) -> bool:
        return self._lock is not None

    @property
    def is_lost(self) -> bool:
        """Return whether another daemon has taken the held lock over."""
        return self._lock is not None and _is_other(self._path, self._lock)

    def take(self) -> None:
        """Create the folder if it is missing, and lock it.

        Raise CheckpointTakenError if another daemon has the lock. Raise BrokerError if the folder cannot be locked at
        all.
        """
        lock = self._locked()
        if os.fstat(lock).st_size > 0:
            # A holder that did not release the lock may still go on, even if this one ends before it serves.
            os.ftruncate(lock, 0)
            os.pwrite(lock, _NOT_LEFT, 0)
        self._lock = lock

    def take_as_leader(self, registry: str, streams: Iterable[str]) -> None:
        """Lock the folder for the leader of a registry. Errors are as in :meth:`take`.

        If the former holder did not release the lock itself, take its folders over as well. The former holder may have
        been killed. Or its host may be frozen, so that it later continues to write, although the file system released
        its lock. These cases cannot be distinguished.
        """
        former = self._locked()
        if os.fstat(former).st_size == 0:
            self._lock = former
            return
        try:
            self.take_over(registry, streams)
        finally:
            os.close(former)

    def _locked(self) -> int:
        """Return the descriptor of the lock file, open and locked."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise self._taken() from None
        except OSError as error:
            os.close(lock)
            remedy = f"cannot be locked ({error.strerror}): name a folder on a file system that has locks"
            raise BrokerError(_NAME, str(self._folder), remedy) from error
        if _is_other(self._path, lock):
            # Another daemon took the name over between the opening and the locking.
            os.close(lock)
            raise self._taken()
        return lock

    def mark(self, registry: str) -> None:
        """Write the id of the registry that the holder serves into the held lock."""
        assert self._lock is not None
        os.pwrite(self._lock, registry.encode(), 0)
        self._is_marked = True

    def is_of(self, registry: str) -> bool:
        """Return whether the mark in the lock file shows that the holder of the lock, which may be another daemon,
        serves the registry.
        """
        try:
            return self._path.read_bytes()[:_OWNER_BYTES] == registry.encode()
        except OSError:
            return False

    def take_over(self, registry: str, streams: Iterable[str]) -> None:
        """Lock the folder in place of a suspended holder, and take over the holder's folders of streams, cubes and
        snapshots.

        Later writes of that holder have no effect. Raise BrokerError if the takeover fails. Only the leader of the
        registry that the holder serves may call this. The new lock is marked from the start.
        """
        aside = self._path.with_name(f".lock.{uuid.uuid4().hex}")
        try:
            lock = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(lock, registry.encode(), 0)
            # If this daemon dies in the middle, the next one takes over its lock with all folders.
            take_folders(self._folder, streams)
            # A daemon that starts here later must not use the former holder's name in Kafka's group.
            (self._folder / "instance").unlink(missing_ok=True)
            aside.rename(self._path)
        except OSError as error:
            raise self._unwritable(error) from error
        self._lock, self._is_marked = lock, True

    def release(self) -> None:
        """Release the lock and remove its mark. If the lock is not held, do nothing."""
        if self._lock is not None:
            if self._is_marked and not self.is_lost:
                with suppress(OSError):
                    os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock, self._is_marked = None, False

    def instance(self) -> str:
        """Return a name of this daemon that stays the same after a restart, and that no other running daemon has.

        The name is stored in the locked folder.
        """
        path = self._folder / "instance"
        name = path.read_text("utf-8", "replace").strip() if path.exists() else ""
        if not re.fullmatch(r"[0-9a-f]{32}", name):
            name = uuid.uuid4().hex
            write_durably(path, name)
        return name

    def _unwritable(self, error: OSError) -> BrokerError:
        return BrokerError(_NAME, str(self._folder), f"cannot be written: {error.strerror}")

    def _taken(self) -> CheckpointTakenError:
        remedy = "belongs to another running daemon: stop it, or name another"
        return CheckpointTakenError(_NAME, str(self._folder), remedy)


def _is_other(path: Path, file: int) -> bool:
    """Return whether a path refers to another file than the open one. If the path cannot be read, return false."""
    try:
        return not os.path.samestat(path.stat(), os.fstat(file))
    except OSError:
        return False
