"""The checkpoint folder belongs to one running daemon."""

from __future__ import annotations

import fcntl
import os
import re
import uuid
from pathlib import Path

from broker.errors import BrokerError, CheckpointTakenError
from broker.plans.binding import write_durably


class CheckpointLock:
    """A lock on the folder that ends with the process, whatever ends that.

    Invariant: of all locks on one folder one is held at most, where the file system has locks.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: int | None = None

    @property
    def is_held(self) -> bool:
        return self._lock is not None

    def take(self) -> None:
        """Make the folder where it is missing, and lock it; CheckpointTakenError where another daemon has it,
        BrokerError where it cannot be had at all.
        """
        name, folder = "spark.checkpoint_dir", str(self._folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BrokerError(name, folder, f"cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            remedy = "belongs to another running daemon: stop it, or name another"
            raise CheckpointTakenError(name, folder, remedy) from None
        except OSError as error:
            os.close(lock)
            remedy = f"cannot be locked ({error.strerror}): name a folder on a file system that has locks"
            raise BrokerError(name, folder, remedy) from error
        self._lock = lock

    def release(self) -> None:
        """Let go; harmless when it is not held."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def instance(self) -> str:
        """A name that a daemon has again when it is started again, and no other one that runs: it stands in the folder,
        which is locked.
        """
        path = self._folder / "instance"
        name = path.read_text("utf-8", "replace").strip() if path.exists() else ""
        if not re.fullmatch(r"[0-9a-f]{32}", name):
            name = uuid.uuid4().hex
            write_durably(path, name)
        return name
