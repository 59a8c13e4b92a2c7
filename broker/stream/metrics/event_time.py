"""The progress of a stream's event time, by time expression, stored durably after each batch."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from asc.operators.event_time import EventTimeProgress
from asc.operators.times import is_in_range
from broker.matching.tally import Newest
from broker.plans.binding import write_durably

LOG = logging.getLogger("asc.job")

_FORM = 2

Marks = Mapping[str, int]
"""The mark of each time expression by the expression's name, in microseconds since 1970."""


class EventTime:
    """The marks of event time of a stream, which advance only with its records.

    Each mark advances by the rule of :class:`asc.operators.event_time.EventTimeProgress`. Invariant: the file has the
    marks before the last batch and the marks after it, so a replayed batch begins with the same marks. One thread
    writes. Cost: a synced file for each batch, with one time for each partition.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "event-time.json"
        self._batch_id = -1
        self._before: Marks = {}
        self._after: Marks = {}
        self._times: frozenset[str] = frozenset()
        self._newest: Mapping[str, Mapping[int, int | None]] = {}
        self._form = _FORM
        try:
            noted = json.loads(self._path.read_text("utf-8"))
            form = noted.get("v", 1)
            if form not in (1, _FORM):
                raise ValueError(f"it is of form {form}, and {_FORM} is known")
            self._form = form
            self._batch_id = int(noted["batch"])
            marks = [{k: int(v) for k, v in noted[name].items()} for name in ("before", "after")]
            self._before, self._after = ({k: v for k, v in own.items() if is_in_range(v)} for own in marks)
            self._times = frozenset(noted["times" if form == _FORM else "tracks"])
            # Files of earlier versions lack the newest times: a partition without new records holds the mark until it
            # is read.
            self._newest = {
                name: {int(each): _usable(time_us) for each, time_us in own.items()}
                for name, own in noted.get("newest", {}).items()
            }
            # An earlier version stored such marks.
            if unusable := sorted({mark for own in marks for mark in own.values() if not is_in_range(mark)}):
                remedy = "event time begins anew for its expression"
                LOG.warning("%s has the mark %d, outside the years 1 to 9999: %s", self._path, unusable[-1], remedy)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("%s cannot be read, event time begins anew: %s", self._path, error)

    @property
    def has_times(self) -> bool:
        """Return whether the last batch had queries that read an event time."""
        return bool(self._times)

    @property
    def marks(self) -> Marks:
        """Return the marks after the last batch."""
        return self._after if self._form == _FORM else {}

    def before(self, batch_id: int, tracks: Mapping[str, str]) -> Marks:
        """Return the marks with which a batch begins, for the time expressions of ``tracks`` (by the track's name).

        A file of form 1 stores marks by track. If several tracks have the same time expression, their latest mark is
        used.
        """
        marks = self._before if batch_id == self._batch_id else self._after
        if self._form == _FORM:
            times = set(tracks.values())
            return {name: mark for name, mark in marks.items() if name in times}
        found: dict[str, int] = {}
        for track, mark in marks.items():
            if track in tracks:
                found[tracks[track]] = max(mark, found.get(tracks[track], mark))
        return found

    def passed(
        self,
        batch_id: int,
        newest: Newest,
        tracks: Mapping[str, str],
        *,
        read: Collection[int] = (),
        waiting: Collection[int] = (),
    ) -> None:
        """Store that a batch is written, with its newest time by time expression and partition. Raise OSError.

        ``read``, ``waiting``: see :meth:`EventTimeProgress.after`. Time expressions that no track uses any more are
        forgotten.
        """
        before = self.before(batch_id, tracks)
        times: Collection[str] = sorted(set(tracks.values()))
        after: dict[str, int] = {}
        known: dict[str, Mapping[int, int | None]] = {}
        for name in times:
            own = {partition: time_us for (time, partition), time_us in newest.items() if time == name}
            progress = EventTimeProgress(before.get(name), self._newest.get(name, {}))
            progress = progress.after(own, read=read, waiting=waiting)
            known[name] = progress.newest
            if progress.mark_us is not None:
                after[name] = progress.mark_us
        noted = {"v": _FORM, "batch": batch_id, "before": dict(before), "after": after, "times": times, "newest": known}
        write_durably(self._path, json.dumps(noted))
        self._form, self._batch_id, self._before, self._after = _FORM, batch_id, before, after
        self._times, self._newest = frozenset(times), known


def _usable(noted: Any) -> int | None:
    """Return a time that was read from the file of marks. Return None if the file has no time there, or a time outside
    the years 1 to 9999.
    """
    return None if noted is None or not is_in_range(int(noted)) else int(noted)
