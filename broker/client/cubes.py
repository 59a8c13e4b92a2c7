"""The client's methods for cubes and look-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import cast

from broker.answers.cube import (
    CubeAnswer,
    CubeBackfillProgress,
    CubeBins,
    CubeLattice,
    CubeLookup,
    CubeOptimised,
    CubeRebinned,
)
from broker.client.bodies import checked_mapping
from broker.client.connection import Connection
from broker.client.paths import lookup_path, query_path, stream_path
from broker.client.refused import refused
from broker.client.saved_file import Saved, check_new, save

_LOOKUPS = "/v1/cube/lookups"


class CubeClient:
    """The client's methods for the cubes of one daemon: the attribute ``cubes`` of `broker.Client`. All methods raise
    ClientError.
    """

    def __init__(self, connection: Connection, load_timeout_s: float) -> None:
        self._connection = connection
        self._load_timeout_s = load_timeout_s

    def query(self, query_id: str, question: Mapping[str, object]) -> CubeAnswer:
        """Return groups of a cube with their measures.

        ``question``: the fields of :class:`broker.http.operators.cube.CubeQuestion`. The groups: ``by``, ``where``,
        ``live``, ``late``. The interval of event time: ``from``, ``to``, ``last_s``, ``grain_s``, ``grain``, ``hours``.
        The answer: ``measures``, ``order``, ``limit``, ``cursor``, ``answer_from``.
        """
        body = dict(checked_mapping("question", question, '{"by": ["carrier"]}'))
        return cast("CubeAnswer", self._connection.asked("POST", f"{query_path(query_id)}/cube/query", json=body))

    def states(self, query_id: str, question: Mapping[str, object]) -> bytes:
        """Return the states of the groups of one cuboid, as the bytes of an Arrow IPC stream.
        ``asc.operators.cube.Cube.of_states`` reads the stream, and can merge the states.

        ``question``: as in :meth:`query`, without ``measures``, ``order``, ``limit``, ``cursor`` and ``grain``.
        """
        body = {**checked_mapping("question", question, '{"by": ["carrier"]}'), "states": True}
        response = self._connection.sent("POST", f"{query_path(query_id)}/cube/query", json=body)
        if not response.is_success:
            raise refused(response)
        return response.content

    def backfill(self, query_id: str) -> CubeBackfillProgress:
        """Start a backfill: the cube counts the past records that it has not counted yet, if the topic still has them.
        Return the progress at once.

        The daemon continues the backfill without further requests, also after a restart of the daemon.
        """
        path = f"{query_path(query_id)}/cube/backfill"
        return cast("CubeBackfillProgress", self._connection.asked("POST", path, json={}))

    def backfill_progress(self, query_id: str) -> CubeBackfillProgress:
        """Return the progress of the backfill of a cube."""
        return cast("CubeBackfillProgress", self._connection.asked("GET", f"{query_path(query_id)}/cube/backfill"))

    def lattice(self, query_id: str) -> CubeLattice:
        """Return the stored views of a cube, and some views that it could store: those with the most questions, and
        those with the fewest cells.
        """
        return cast("CubeLattice", self._connection.asked("GET", f"{query_path(query_id)}/cube/lattice"))

    def optimise(self, query_id: str, *, dry_run: bool = False) -> CubeOptimised:
        """Choose again which views a cube stores, by the number of recent questions for each view. With ``dry_run``,
        only return the planned changes.
        """
        path = f"{query_path(query_id)}/cube/optimise"
        return cast("CubeOptimised", self._connection.asked("POST", path, json={"dry_run": dry_run}))

    def bins(self, query_id: str) -> CubeBins:
        """Return the bins of a cube: their edges, and the error when a value is replaced by the mean of its bin. There
        is one error over the sample from which the edges were computed, and one over all counted records.
        """
        return cast("CubeBins", self._connection.asked("GET", f"{query_path(query_id)}/cube/bins"))

    def rebin(
        self,
        query_id: str,
        *,
        dimensions: Sequence[str] = (),
        calibrated: Sequence[str] = (),
        dry_run: bool = False,
    ) -> CubeRebinned:
        """Replace the edges of a cube's bins, and delete all cells of the cube, which belong to the former bins. With
        ``dry_run``, only return the effect.

        ``dimensions``: the names of the bins; if empty, all bins of the cube. ``calibrated``: bins with their new
        edges, such as ``bins(temp, 4, [10, 20, 30]) AS temp``; if empty, the daemon computes the edges from the last
        records of the stream.
        """
        body = {"dimensions": list(dimensions), "calibrated": list(calibrated), "dry_run": dry_run}
        return cast("CubeRebinned", self._connection.asked("POST", f"{query_path(query_id)}/cube/rebin", json=body))

    def lookups(self) -> Sequence[CubeLookup]:
        """Return the look-ups of the daemon, ordered by name, without their rows."""
        return cast(
            "Sequence[CubeLookup]", self._connection.field(self._connection.asked("GET", _LOOKUPS), "lookups", list)
        )

    def lookup(self, name: str) -> CubeLookup:
        """Return one look-up, without its rows."""
        return cast("CubeLookup", self._connection.asked("GET", lookup_path(name)))

    def put_lookup(self, name: str, content: bytes, key: str, *, media_type: str = "text/csv") -> CubeLookup:
        """Store a table as the look-up ``name``; it replaces a former look-up with this name.

        ``content``: the bytes of a CSV file with a header; with the ``media_type`` ``application/vnd.apache.parquet``,
        of a Parquet file. ``key``: the column that contains the keys; it has the name of the dimension that the keys
        are values of.
        """
        answer = self._connection.asked(
            "PUT",
            lookup_path(name),
            params={"key": key},
            content=content,
            headers={"Content-Type": media_type},
            timeout=self._load_timeout_s,
        )
        return cast("CubeLookup", answer)

    def remove_lookup(self, name: str) -> None:
        """Remove a look-up."""
        self._connection.asked("DELETE", lookup_path(name))

    def dump(self, stream: str, path: str | PathLike[str], *, progress: Saved | None = None) -> int:
        """Save a copy of all cubes of a stream as a new file, and return the file's size in bytes.

        The file has the suffix ``.part`` until it is complete. ``progress`` is called with the bytes saved so far and
        the total bytes. Raise OSError if the file cannot be written.
        """
        target = Path(path)
        check_new(target)
        with self._connection.streamed(f"{stream_path(stream)}/cubes/dump", self._load_timeout_s) as (parts, size):
            return save(parts, size, target, progress)
