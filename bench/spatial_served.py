"""The time to register one more fence over HTTP among many registered fences, with a daemon as a separate process."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from asc.predicate import Limits
from bench.daemon_process import DaemonProcess
from broker.kafka.embedded import EmbeddedKafka

_POSITION = "ST_Point(a, b)"
"""A point made of two number columns of the stream. No record flows."""


def one_more(shapes: npt.NDArray[Any], changes: int, *, quick: bool = False) -> dict[str, Any]:
    """Register most of the fences ``shapes`` in one request, and then the last ``changes`` fences one by one. Return
    the seconds of the request, and the median and the maximum of the single registrations.

    Raises RuntimeError if the daemon does not become ready, or if it refuses the request.
    """
    texts = shapely.to_wkt(shapes, rounding_precision=-1)
    written = (f"ST_Contains(ST_GeomFromText('{text}'), {_POSITION})" for text in texts)
    # Omit shapes whose predicate exceeds the limit of characters, about one in a thousand. Users put such shapes in a
    # layer.
    wheres = [where for where in written if len(where) <= Limits.length_chars]
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        daemon = DaemonProcess(Path(name), kafka, "fences", quick=quick)
        topics = daemon.destinations
        with daemon.running():
            initial = len(wheres) - changes
            lines = [
                json.dumps({"id": f"fence-{number}", "where": where, "topic": topics[number % len(topics)]})
                for number, where in enumerate(wheres[:initial])
            ]
            start_s = time.perf_counter()
            daemon.load(lines)
            load_s = time.perf_counter() - start_s
            taken = []
            for number, where in enumerate(wheres[initial:]):
                start_s = time.perf_counter()
                daemon.put(f"more-{number}", where, number)
                taken.append(time.perf_counter() - start_s)
    return {
        "fences": initial,
        "load_s": round(load_s, 2),
        "changes": changes,
        "change_p50_s": round(float(np.median(taken)), 4),
        "change_worst_s": round(max(taken), 4),
    }
