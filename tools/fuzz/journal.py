"""The journal of a fuzzing process: its current input, in a file that remains after the process has ended."""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FOUND = 3
"""The exit code of a process that found a failing input."""

_HEAD = struct.Struct("<QQQQ4Q")
_CAPACITY_BYTES = 8 << 20
_PIDS_MAX = 4
_FAULT_CHARS = 2_000


class Entry(NamedTuple):
    """The state of a fuzzer's run.

    ``tried``: the number of finished inputs. ``busy_s``: the time for which the present input has been tried, 0 between
    two inputs. ``slowest_s``: the time of the slowest finished input. ``pids``: the processes whose memory is measured,
    empty before the first input.
    """

    tried: int
    busy_s: float
    slowest_s: float
    pids: tuple[int, ...]


class Journal:
    """The present input, the number of inputs, and the finding, in a memory-mapped file.

    The process that tries inputs writes the file. The watching process reads it, even after the writing process has
    ended. Invariant: an input is written completely before it is marked as being tried. Cost: a copy of each input, no
    system call.
    """

    def __init__(self, path: Path) -> None:
        self._finding_file = path.with_suffix(".found")
        if not path.exists():
            with path.open("wb") as file:
                file.truncate(_HEAD.size + _CAPACITY_BYTES)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._tried = self._slowest_ns = 0
        self._pids: tuple[int, ...] = (0,) * _PIDS_MAX

    def weigh(self, pids: Sequence[int]) -> None:
        """Set the processes whose memory is measured from now on."""
        self._pids = (*pids, *(0,) * _PIDS_MAX)[:_PIDS_MAX]
        self._write(0, 0)

    def begin(self, given: bytes) -> None:
        """Write the input that is tried next. Raise ValueError if it exceeds 8 MiB."""
        if len(given) > _CAPACITY_BYTES:
            raise ValueError(f"an input of {len(given)} bytes: make it {_CAPACITY_BYTES} at most")
        self._map[_HEAD.size : _HEAD.size + len(given)] = given
        self._write(time.monotonic_ns(), len(given))

    def end(self) -> None:
        """Note that the current input is finished."""
        _, start_ns, _, length, *_ = _HEAD.unpack_from(self._map)
        self._tried += 1
        self._slowest_ns = max(self._slowest_ns, time.monotonic_ns() - start_ns)
        self._write(0, length)

    def find(self, what: str) -> None:
        """Write the fault of the last input, ``what``, as the finding of the run."""
        self._finding_file.write_text(what[:_FAULT_CHARS], "utf-8", "backslashreplace")

    def entry(self) -> Entry:
        """Return the current state of the run."""
        tried, start_ns, slowest_ns, _, *pids = _HEAD.unpack_from(self._map)
        busy_s = (time.monotonic_ns() - start_ns) / 1e9 if start_ns else 0.0
        return Entry(tried, max(0.0, busy_s), slowest_ns / 1e9, tuple(pid for pid in pids if pid))

    def given(self) -> bytes:
        """Return the last input."""
        length = _HEAD.unpack_from(self._map)[3]
        return self._map[_HEAD.size : _HEAD.size + length]

    def found(self) -> str | None:
        """Return the finding. Return None if there is no finding."""
        return self._finding_file.read_text("utf-8") if self._finding_file.exists() else None

    def _write(self, start_ns: int, length: int) -> None:
        _HEAD.pack_into(self._map, 0, self._tried, start_ns, self._slowest_ns, length, *self._pids)
