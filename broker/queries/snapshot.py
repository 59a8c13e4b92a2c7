"""Snapshots: the standing queries and their plans on disk, so that a start need not parse a million predicates."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import blake2b
from importlib.metadata import version
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from asc.errors import AscError
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import Plan
from broker.config.config import Config
from broker.disk_sync import sync
from broker.failure import naming, one_line
from broker.kafka.cluster import KafkaCluster
from broker.layers.mark import LayerMark
from broker.operators.kinds import definition_of
from broker.plans.binding import write_durably
from broker.plans.stream_folder import SNAPSHOT, stream_folder
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery
from broker.queries.query_set import QuerySet

LOG = logging.getLogger("asc.snapshot")

_FORM = 6

_READING = 3
"""The version of the parsing of predicates and registry records. Increase it with each change of their meaning, because
snapshots of an earlier version are then not used.
"""

_MANIFEST = "manifest.json"
_ROWS = 50_000
"""The number of queries in a batch of the file. Other Python threads run between two batches."""

_QUERIES = pa.schema(
    [
        ("id", pa.string()),
        ("stream", pa.string()),
        ("where", pa.string()),
        ("topic", pa.string()),
        ("labels", pa.string()),
        ("paused", pa.bool_()),
        ("expires_at", pa.timestamp("us", tz="UTC")),
        ("version", pa.int64()),
        ("unreadable", pa.string()),
        ("unserved", pa.string()),
        ("join", pa.string()),
        ("operator", pa.string()),
        ("since", pa.int64()),
    ]
)
"""The columns of the queries. ``labels``, ``join`` and ``operator`` are JSON, or NULL if there is none.

``unserved`` is the reason why no plan serves the query.
"""

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AscError, pa.ArrowException)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The standing queries at a version of the registry, the plan of each stream, and the time of writing (seconds)."""

    standing: QuerySet
    plans: Mapping[str, Plan]
    made_at_s: float


class Snapshots:
    """The folder of the last snapshot.

    ``manifest.json`` names its files: one with the queries (Arrow), and the parts of each plan, named by the hash of
    their content. ``made_for``: the configuration and software versions on which the plans depend. A snapshot with
    another ``made_for`` is not used.

    Invariant: a file is complete and never changes. The manifest is written last and renamed into place; files that it
    does not name are then removed. So a crash leaves the previous snapshot. Every file has a checksum. A snapshot with
    a wrong checksum is logged and ignored, because the registry has all queries. One thread writes. The folder of a
    replaced daemon has another name, so its later writes fail.

    Cost: the new parts of changed plans, and all queries, some 150 bytes each.
    """

    def __init__(self, folder: Path, made_for: Mapping[str, Any]) -> None:
        self._folder = folder
        self._made_for = json.loads(json.dumps(made_for))
        self._names: dict[str, dict[Part, str]] = {}
        """The file of each part of the plans that were last written or read."""

    @staticmethod
    def of(config: Config, cluster: KafkaCluster, schemas: Mapping[str, str]) -> Snapshots:
        """Return the snapshots for a configuration, its registry topic, and streams with these schemas."""
        folder = stream_folder(config.spark.checkpoint_dir, SNAPSHOT)
        return Snapshots(folder, _made_for(config, cluster, schemas))

    def read(self, watched: Iterable[str] = ()) -> Snapshot | None:
        """Return the last snapshot. Log the reason and return None if no snapshot can be used."""
        path = self._folder / _MANIFEST
        try:
            sealed = json.loads(path.read_bytes())
            body = sealed["body"]
            if sealed["sum"] != _sum_of(body):
                raise ValueError("its sum does not fit")
            if body["form"] != _FORM or body["made_for"] != self._made_for:
                LOG.info("the snapshot is of another configuration or version: all queries are read anew")
                return None
            queries, unserved = self._queries(body)
            standing = QuerySet(queries, body["version"], unserved, tuple(watched))
            marks = {name: LayerMark.of_plain(plain) for name, plain in body["layers"].items()}
            standing = standing.with_marks(marks, standing.version)
            plans = {name: self._plan(name, files) for name, files in body["plans"].items()}
            return Snapshot(standing, plans, body["made_at_s"])
        except FileNotFoundError:
            LOG.info("no snapshot of the queries in %s: all of them are read", self._folder)
        except _DAMAGE as error:
            LOG.warning("the snapshot in %s is damaged, all queries are read: %s", self._folder, one_line(error))
        self._names.clear()
        return None

    def write(self, standing: QuerySet, plans: Mapping[str, Plan]) -> None:
        """Write a snapshot that replaces the previous one. Raise OSError; the previous snapshot then remains."""
        self._folder.mkdir(parents=True, exist_ok=True)
        names: dict[str, dict[Part, str]] = {}
        for stream, plan in plans.items():
            # Somebody may have emptied the folder.
            known = {p: name for p, name in self._names.get(stream, {}).items() if (self._folder / name).exists()}
            names[stream] = {}
            for part in parts_of(plan, tuple(known)):
                # Noted at once: if a later part fails, the next attempt need not write this part again.
                names[stream][part] = known[part] = known.get(part) or self._write_part(part)
                self._names[stream] = known
        queries, checksum = self._write_queries(standing)
        body = {
            "form": _FORM,
            "made_for": self._made_for,
            "made_at_s": time.time(),
            "version": standing.version,
            "layers": {name: json.loads(mark.record()) for name, mark in standing.marks.items()},
            "queries": queries,
            "queries_sum": checksum,
            "plans": {stream: list(own.values()) for stream, own in names.items()},
        }
        write_durably(self._folder / _MANIFEST, json.dumps({"sum": _sum_of(body), "body": body}))
        self._names = names
        kept = {_MANIFEST, queries, *(name for own in names.values() for name in own.values())}
        for path in self._folder.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)

    # -- plans

    def _plan(self, stream: str, files: Iterable[str]) -> Plan:
        parts = {Part.from_bytes(_mapped(self._folder / name)): name for name in files}
        self._names[stream] = parts
        return plan_of(tuple(parts))

    def _write_part(self, part: Part) -> str:
        content = part.to_bytes()
        name = f"{blake2b(content, digest_size=16).hexdigest()}.part"
        # Write the part even if the file exists, because a file that could not be read may be damaged.
        aside = self._folder / f"{name}.new"
        with naming(aside), aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self._folder / name)
        return name

    # -- queries

    def _write_queries(self, standing: QuerySet) -> tuple[str, int]:
        name = f"queries-{standing.version}.arrow"
        aside = self._folder / f"{name}.new"
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with (
            naming(aside),
            pa.OSFile(str(aside), "wb") as sink,
            pa.ipc.new_stream(sink, _QUERIES, options=options) as writer,
        ):
            left = iter(standing)
            while rows := list(islice(left, _ROWS)):
                writer.write_batch(_batch(rows, standing.unserved))
        sync(aside)
        checksum = crc32(_mapped(aside))
        aside.replace(self._folder / name)
        return name, checksum

    def _queries(self, body: Mapping[str, Any]) -> tuple[dict[str, RegisteredQuery], dict[str, str]]:
        content = _mapped(self._folder / body["queries"])
        if crc32(content) != body["queries_sum"]:
            raise ValueError("the sum of its queries does not fit")
        queries: dict[str, RegisteredQuery] = {}
        unserved: dict[str, str] = {}
        with pa.ipc.open_stream(pa.py_buffer(content)) as reader:
            for batch in reader:
                columns = [column.to_pylist() for column in batch.columns]
                for (
                    query_id,
                    stream,
                    where,
                    topic,
                    labels,
                    paused,
                    expires_at,
                    at,
                    unreadable,
                    reason,
                    join,
                    operator,
                    since,
                ) in zip(*columns, strict=True):
                    queries[query_id] = RegisteredQuery(
                        query_id,
                        stream,
                        where,
                        topic,
                        {} if labels is None else json.loads(labels),
                        paused,
                        expires_at if expires_at is None else _aware(expires_at),
                        at,
                        unreadable,
                        None if join is None else Join.of(json.loads(join)),
                        None if operator is None else definition_of(json.loads(operator)),
                        since,
                    )
                    if reason is not None:
                        unserved[query_id] = reason
        return queries, unserved


def _made_for(config: Config, cluster: KafkaCluster, schemas: Mapping[str, str]) -> dict[str, Any]:
    """Return the values, other than the queries, on which the plans of a snapshot depend: see :class:`Snapshots`."""
    streams = {
        name: [stream.topic, stream.format, schemas[name], stream.crs, dict(stream.options)]
        for name, stream in config.streams.items()
    }
    topic = config.kafka.registry_topic
    return {
        "reading": _READING,
        "versions": {package: version(package) for package in ("asc-broker", "pyspark", "sqlglot", "tzdata")},
        "registry": [topic, cluster.topic_id(topic)],
        "streams": streams,
        "time_zone": config.spark.time_zone,
        "layers": {name: layer.model_dump(mode="json") for name, layer in config.layers.items()},
        "limits": config.limits.model_dump(mode="json"),
    }


def _batch(rows: list[RegisteredQuery], unserved: Mapping[str, str]) -> pa.RecordBatch:
    return pa.record_batch(
        [
            pa.array([query.id for query in rows], pa.string()),
            pa.array([query.stream for query in rows], pa.string()),
            pa.array([query.where for query in rows], pa.string()),
            pa.array([query.topic for query in rows], pa.string()),
            pa.array([json.dumps(dict(query.labels)) if query.labels else None for query in rows], pa.string()),
            pa.array([query.paused for query in rows], pa.bool_()),
            pa.array([query.expires_at for query in rows], pa.timestamp("us", tz="UTC")),
            pa.array([query.version for query in rows], pa.int64()),
            pa.array([query.unreadable for query in rows], pa.string()),
            pa.array([unserved.get(query.id) if unserved else None for query in rows], pa.string()),
            pa.array([None if query.join is None else json.dumps(query.join.plain()) for query in rows], pa.string()),
            pa.array([json.dumps(q.operator.plain()) if q.operator else None for q in rows], pa.string()),
            pa.array([query.since for query in rows], pa.int64()),
        ],
        schema=_QUERIES,
    )


def _aware(at: datetime) -> datetime:
    # Arrow uses another UTC object than Python. All other times have Python's.
    return at.astimezone(timezone.utc)


def _mapped(path: Path) -> memoryview:
    """Return the content of a file. The content stays readable after the file is removed."""
    with path.open("rb") as file:
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ)) if path.stat().st_size else memoryview(b"")


def _sum_of(body: Mapping[str, Any]) -> int:
    return crc32(json.dumps(body, sort_keys=True).encode())
