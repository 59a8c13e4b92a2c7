"""The time that a user waits for a change of the standing queries: a query is added, replaced or removed. The daemon
has an embedded Kafka and a stream without records.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pyspark.sql import SparkSession
from tqdm import tqdm

from asc.schema import Schema
from bench.idle_daemon import client_of, idle_daemon
from bench.machine import machine
from bench.plot_registration import plot_registration, time_text
from bench.result_file import write_result
from broker.daemon.daemon import STREAMING_OPTIONS
from broker.runtime.java import find_java
from broker.runtime.spark import spark_session
from workloads.synthetic import d1_workload

BULK = "bulk load (NDJSON)"
REGISTER = "register, topic is there"
REGISTER_TOPIC = "register, topic is made"
REPLACE = "replace"
REMOVE = "remove"
ADD = "asc query add"
CHECK = "asc query check"

Answer = TypeVar("Answer")

_STREAM = "d1"
_TOPIC = "matches"


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the number of standing queries, the number of requests of each kind, and the number
    of runs of each command.
    """

    queries: int
    requests: int
    commands: int


FULL = Size(10_000, 30, 10)
QUICK = Size(500, 5, 5)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``registration.json`` and its plot into the folder, and return the content of the file.

    The kinds of change alternate, so that a slow moment of the machine affects all kinds. No run is excluded as a
    warm-up. Raises RuntimeError if a change is refused, or is answered before the running plan contains the change.
    """
    size = QUICK if quick else FULL
    # Start Spark with the same options as the daemon does.
    spark = spark_session(app_name="asc-bench-registration", options=STREAMING_OPTIONS)
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as folder:
        results, plan = _measured(spark, Path(folder), size)
    result = {
        "benchmark": "registration",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "queries": size.queries,
        "predicates": "3 to 6 comparisons each, d1_workload(seed=1)",
        "stream": {"format": "json", "columns": 20, "records": 0},
        "session": {"master": spark.sparkContext.master},
        "results": results,
        "plan": plan,
    }
    write_result(output_dir, "registration", result)
    plot_registration(result, output_dir / "registration")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: for each kind of change the number of changes, the median and the maximum
    time.
    """
    lines = [f"{result['queries']:,} standing queries over 20 int columns, the stream idle", ""]
    lines.append(f"{'what':<26} {'runs':>5}  {'median':>9}  {'worst':>9}")
    for what, measured in result["results"].items():
        lines.append(
            f"{what:<26} {len(measured['runs_s']):>5}  {time_text(measured['median_s']):>9}  "
            f"{time_text(measured['worst_s']):>9}"
        )
    return "\n".join(lines)


def _measured(spark: SparkSession, folder: Path, size: Size) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure all kinds of change. Return the times of each kind, and the version and the number of queries of the last
    running plan.
    """
    schema_file = folder / "d1.ddl"
    workload = d1_workload(size.queries + 3 * size.requests + 2 * size.commands)
    schema_file.write_text(Schema.from_arrow(workload.schema()).ddl(), "utf-8")
    texts = iter(workload.texts())
    with idle_daemon(spark, folder, _STREAM, schema_file) as daemon, client_of(daemon) as client:
        changes = _Changes(client)
        lines = [
            json.dumps({"id": f"q{number:06d}", "where": next(texts), "topic": _TOPIC})
            for number in range(size.queries)
        ]
        changes.send(BULK, size.queries, "POST", "/v1/queries", "\n".join(lines))
        for number in tqdm(range(max(size.requests, size.commands)), desc="changes", leave=False, disable=None):
            if number < size.requests:
                _one_of_each(changes, number, texts)
            if number < size.commands:
                # Add the query without a topic, as a typical user does, so that the daemon creates the default topic.
                added = ("query", "add", f"added-{number}", "--where", next(texts), "--server", daemon.url)
                changes.command(ADD, 1, added)
                changes.command(CHECK, 0, ("query", "check", "--where", next(texts), "--schema", str(schema_file)))
        plan = changes.plan()
    return {what: _result(seconds) for what, seconds in changes.seconds.items()}, plan


def _one_of_each(changes: _Changes, number: int, texts: Iterator[str]) -> None:
    """Register two queries, then replace and remove one of them."""
    there, made = f"there-{number}", f"made-{number}"
    body = {"id": there, "topic": _TOPIC}
    changes.send(REGISTER, 1, "POST", "/v1/queries", json.dumps({**body, "where": next(texts)}))
    changes.send(REGISTER_TOPIC, 1, "POST", "/v1/queries", json.dumps({"id": made, "where": next(texts)}))
    changes.send(REPLACE, 0, "POST", "/v1/queries", json.dumps({**body, "where": next(texts)}))
    changes.send(REMOVE, -1, "DELETE", f"/v1/queries/{there}")


class _Changes:
    """A client that changes the standing queries, and stores the time of each change. After each change, the client
    checks that the running plan contains the change.
    """

    def __init__(self, client: httpx.Client) -> None:
        self.seconds: dict[str, list[float]] = {}
        self._client = client
        self._queries = 0

    def send(self, what: str, more: int, method: str, path: str, content: str = "") -> None:
        """Send a request, and store its time under ``what``. ``more``: the number of queries that the request adds,
        negative if it removes queries.
        """
        kind = "application/x-ndjson" if what == BULK else "application/json"
        answer = self._timed(
            what, lambda: self._client.request(method, path, content=content, headers={"Content-Type": kind})
        )
        if not answer.is_success:
            raise RuntimeError(f"{what}: refused with {answer.status_code}: {answer.text[:500]}")
        self._planned(what, more, answer.json()["version"])

    def command(self, what: str, more: int, arguments: Sequence[str]) -> None:
        """Run an ``asc`` command, and store the time from the start to the end of its process under ``what``. ``more``:
        the number of queries that the command adds, negative if it removes queries.
        """
        line = [sys.executable, "-c", "from cli.main import main; main()", *arguments]
        ended = self._timed(what, lambda: subprocess.run(line, capture_output=True, text=True, check=False))
        if ended.returncode:
            raise RuntimeError(f"{what}: ended with {ended.returncode}: {ended.stderr[:500]}")
        self._planned(what, more, None)

    def plan(self) -> dict[str, Any]:
        """Return the version and the number of queries of the running plan."""
        answer = self._client.get("/v1/plan").raise_for_status()
        plan = answer.json()["streams"][_STREAM]
        return {"version": plan["version"], "queries": plan["queries"]}

    def _timed(self, what: str, work: Callable[[], Answer]) -> Answer:
        start = time.perf_counter()
        answer = work()
        self.seconds.setdefault(what, []).append(round(time.perf_counter() - start, 5))
        return answer

    def _planned(self, what: str, more: int, version: int | None) -> None:
        self._queries += more
        plan = self.plan()
        wanted = {"version": plan["version"] if version is None else version, "queries": self._queries}
        if plan != wanted:
            raise RuntimeError(f"{what}: was answered, but the running plan is {plan}, not {wanted}")


def _result(seconds: list[float]) -> dict[str, Any]:
    return {"median_s": statistics.median(seconds), "worst_s": max(seconds), "runs_s": seconds}
