"""The time to send the rows of a CSV file to Kafka with ``asc publish``, with a loop in Python, and with librdkafka
alone.
"""

from __future__ import annotations

import csv
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.daemon_process import STREAM, DaemonProcess
from bench.machine import machine
from bench.result_file import write_result
from broker.kafka.embedded import EmbeddedKafka
from broker.runtime.java import find_java
from workloads.subscribers import records

_TEXTS = ("dest", "carrier")


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement: the number of rows of the file, and the number of times that each contender sends
    the file.
    """

    rows: int
    times: int


FULL = Size(1_000_000, 3)
QUICK = Size(2_000, 1)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``publish.json`` into the folder, and return the content of the file.

    Each contender is a process, timed from its start to its end, while a daemon reads the records. The next contender
    begins when the daemon has processed all records of this contender. Raises RuntimeError if a contender fails.
    """
    size = QUICK if quick else FULL
    took: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        daemon = DaemonProcess(Path(name), kafka, "publish", quick=quick)
        rows, values = _written(Path(name), size.rows)
        sent = 0
        with daemon.running():
            contenders = _contenders(daemon, rows, values)
            steps = tqdm(total=size.times * len(contenders), desc="files", leave=False, disable=None)
            for _ in range(size.times):
                for contender, send in contenders.items():
                    start = time.perf_counter()
                    send()
                    took.setdefault(contender, []).append(round(time.perf_counter() - start, 3))
                    sent += size.rows
                    _, done = daemon.reached(sent)
                    if done != sent:
                        raise RuntimeError(f"{contender}: {done:,} records have come, and {sent:,} were sent")
                    steps.update()
            steps.close()
        size_bytes = rows.stat().st_size
    result = {
        "benchmark": "publish",
        "quick": quick,
        "machine": {**machine(), "java": find_java().version},
        "rows": size.rows,
        "columns": len(next(iter(records())).split(b",")),
        "size_bytes": size_bytes,
        "results": [{"contender": contender, "seconds": seconds} for contender, seconds in took.items()],
    }
    write_result(output_dir, "publish", result)
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as lines of text: one line per contender."""
    lines = [f"{'':>40}  {'median':>8}  {'worst':>8}  {'records/s':>10}"]
    for each in result["results"]:
        median, worst = float(np.median(each["seconds"])), max(each["seconds"])
        rate = result["rows"] / median
        lines.append(f"{each['contender']:>40}  {median:>6.1f} s  {worst:>6.1f} s  {rate:>10,.0f}")
    return "\n".join(lines)


def _contenders(daemon: DaemonProcess, rows: Path, values: Path) -> dict[str, Callable[[], None]]:
    line = [sys.executable, "-c", "from cli.main import main; main()", "publish", "--server", daemon.address]
    return {
        "asc publish, CSV": partial(_command, [*line, "--stream", STREAM, str(rows)]),
        "asc publish, NDJSON": partial(_command, [*line, "--stream", STREAM, str(values)]),
        "librdkafka, lines that are ready": partial(_process, send_ready, daemon, values),
        "csv, json and kafka-python": partial(_process, _send_rows, daemon, rows),
    }


def _written(folder: Path, count: int) -> tuple[Path, Path]:
    """Write the same rows as CSV and as NDJSON, and return the paths of both files."""
    rows, values = folder / "rows.csv", folder / "values.ndjson"
    with rows.open("w", encoding="utf-8", newline="") as as_csv, values.open("wb") as as_json:
        made = islice(records(), count)
        first = next(made)
        writer = csv.DictWriter(as_csv, json.loads(first).keys())
        writer.writeheader()
        for value in (first, *made):
            fields = json.loads(value)
            writer.writerow({**fields, "ok": str(fields["ok"]).lower()})
            as_json.write(value + b"\n")
    return rows, values


def _command(line: list[str]) -> None:
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"asc publish has failed: {ended.stderr[-500:]}")


def _process(send: Callable[[str, str, Path], None], daemon: DaemonProcess, file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=send, args=(daemon.bootstrap_servers, daemon.source, file))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the process that sends {file.name} has failed: see the lines above")


def send_ready(bootstrap_servers: str, topic: str, file: Path) -> None:
    """Send each line of a file unchanged as a record, as fast as librdkafka accepts records."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all", "enable.idempotence": True})
    with file.open("rb") as lines:
        for line in lines:
            while True:
                try:
                    producer.produce(topic, line[:-1])
                    break
                except BufferError:
                    producer.poll(0.01)
    producer.flush()


def _send_rows(bootstrap_servers: str, topic: str, file: Path) -> None:
    """Send the rows of a CSV file with a simple Python loop: read a row, encode it as a record, and send the record."""
    from kafka import KafkaProducer

    producer: Any = KafkaProducer(bootstrap_servers=bootstrap_servers, acks="all")
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            fields = {name: text if name in _TEXTS else json.loads(text) for name, text in row.items()}
            producer.send(topic, json.dumps(fields).encode())
    producer.flush()
    producer.close()
