"""How far the event time of a stream has come, by track, as far as its batches told: durable from batch to batch."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from broker.matching.tally import Newest
from broker.plans.binding import write_durably

LOG = logging.getLogger("asc.job")

Marks = Mapping[str, int]
"""By track: microseconds since 1970."""


class EventTime:
    """The marks of a stream, which its records alone move.

    After a batch a mark is the least of the newest times of the partitions that the batch had records of, unless it was
    later before. Invariant: the file says what the marks were before the last batch and after it, so that a batch which
    is run again begins with those it began with. One thread writes. Cost: a synced file a batch. Source: spec, event
    time.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "event-time.json"
        self._batch_id = -1
        self._before: Marks = {}
        self._after: Marks = {}
        self._tracks: frozenset[str] = frozenset()
        try:
            noted = json.loads(self._path.read_text("utf-8"))
            self._batch_id = int(noted["batch"])
            self._before, self._after = ({k: int(v) for k, v in noted[name].items()} for name in ("before", "after"))
            self._tracks = frozenset(noted["tracks"])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            LOG.warning("%s cannot be read, event time begins anew: %s", self._path, error)

    @property
    def has_tracks(self) -> bool:
        """Whether the last batch had event queries."""
        return bool(self._tracks)

    def before(self, batch_id: int) -> Marks:
        """The marks that a batch begins with."""
        return self._before if batch_id == self._batch_id else self._after

    def passed(self, batch_id: int, newest: Newest, tracks: Collection[str]) -> None:
        """A batch is written, and had these newest times by track and partition. Tracks that no query has any more are
        forgotten. Raises OSError.
        """
        before = self.before(batch_id)
        after = {track: mark for track, mark in before.items() if track in tracks}
        for track in tracks:
            own = [time_us for (name, _), time_us in newest.items() if name == track]
            if own:
                after[track] = max(min(own), after.get(track, min(own)))
        noted = {"batch": batch_id, "before": dict(before), "after": after, "tracks": sorted(tracks)}
        write_durably(self._path, json.dumps(noted))
        self._batch_id, self._before, self._after, self._tracks = batch_id, before, after, frozenset(tracks)
