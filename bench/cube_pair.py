"""The throughput and the storage of a standing cube, compared with an alternative: the daemon routes records to a
topic, and a consumer inserts them into DuckDB.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.cube_source import check_totals, cube_query, send_lines, write_lines
from bench.daemon_process import STREAM, DaemonProcess
from broker.kafka.embedded import EmbeddedKafka
from broker.operators.cube.cubes_file import cubes_path
from broker.queries.query import RegisteredQuery
from workloads.sales import DIMENSIONS, MEASURES, NARROW, SALES_DDL, SalesCube, sales

_CUBE = SalesCube("half", "amount < 500", DIMENSIONS)
"""A cube that accepts half of the records."""

_FETCHED = 20_000
_DONE_S = 900.0
_PAUSE_S = 0.25
_STORED = ("sold_at", *DIMENSIONS, "amount", "price")
"""The columns that the cube reads."""


@dataclass(frozen=True, slots=True)
class PairSize:
    """The size of the measurement. ``records`` and ``batch``: the numbers of records of the backlog and of a batch.
    ``rounds``: the number of rounds. ``quick``: true for a quick test, whose times are not meaningful.
    """

    records: int
    batch: int
    rounds: int
    quick: bool = False


FULL = PairSize(1_000_000, 100_000, 3)
QUICK = PairSize(8_000, 2_000, 1, quick=True)


def pair(size: PairSize) -> dict[str, Any]:
    """Return the bytes stored and the records per second of the cube, and of the pair of a topic and DuckDB. The rate
    covers the whole path from the source topic to the cube or to the DuckDB file.

    The cube: a daemon folds the records. The pair: a daemon routes the records to a topic with a query, and another
    process reads the topic. This process inserts the columns of the cube into a DuckDB file, one transaction per fetch,
    on one thread. Raises RuntimeError if the totals of the cube or of the file are wrong.
    """
    records = sales(size.records, NARROW)
    runs: dict[str, list[dict[str, float]]] = {"cube": [], "pair": []}
    with tempfile.TemporaryDirectory(prefix="asc-bench-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        folder, lines = Path(name), Path(name) / "sales.ndjson"
        write_lines(records, lines)
        for turn in range(size.rounds):
            for method, measured in (("cube", _by_cube), ("pair", _by_pair)):
                daemon = DaemonProcess(
                    folder, kafka, f"{method}-{turn}", batch=size.batch, quick=size.quick, ddl=SALES_DDL
                )
                send_lines(daemon, lines)
                runs[method].append(measured(daemon, folder / f"{method}-{turn}", kafka, records))
    ratios = [own["records_a_s"] / other["records_a_s"] for own, other in zip(*runs.values(), strict=True)]
    return {
        "records": size.records,
        "batch": size.batch,
        "where": _CUBE.where,
        "runs": runs,
        "ratio": round(statistics.median(ratios), 4),
        "stored_ratio": round(runs["cube"][-1]["stored_bytes"] / runs["pair"][-1]["stored_bytes"], 4),
        "stored_ratio_of_files": round(runs["cube"][-1]["file_bytes"] / runs["pair"][-1]["file_bytes"], 4),
    }


def _by_cube(daemon: DaemonProcess, _: Path, kafka: EmbeddedKafka, records: pa.Table) -> dict[str, float]:
    daemon.write_queries([cube_query(_CUBE)])
    with daemon.running():
        first, start_records = daemon.reached(1)
        give_up, expected = time.monotonic() + _DONE_S, _expected(records)
        while (counted := _counted(daemon)) < expected:
            if time.monotonic() > give_up:
                raise RuntimeError(f"the cube has {counted:,} of {expected:,} records after {_DONE_S:.0f} s")
            time.sleep(_PAUSE_S)
        end = time.monotonic()
        check_totals(daemon, _CUBE, records)
        folder_of_cubes = cubes_path(daemon.checkpoint_dir, STREAM).parent
    # Measure the files after the daemon has stopped, because its write-ahead log is then merged into the cube file. The
    # number of topic bytes is 0, because a cube without an output writes no topic.
    return _figures(records, start_records, end - first, _folder_bytes(folder_of_cubes), 0)


def _by_pair(daemon: DaemonProcess, folder: Path, kafka: EmbeddedKafka, records: pa.Table) -> dict[str, float]:
    topic, database = daemon.destinations[0], folder / "sales.duckdb"
    daemon.write_queries([RegisteredQuery(_CUBE.id, STREAM, _CUBE.where, topic)])
    context = multiprocessing.get_context("spawn")
    connection, others = context.Pipe()
    expected = _expected(records)
    args = (others, daemon.bootstrap_servers, topic, str(database), expected)
    process = context.Process(target=_insert, args=args, daemon=True)
    process.start()
    others.close()
    try:
        with daemon.running():
            first, start_records = daemon.reached(1)
            end: float = connection.recv()
    except EOFError:
        raise RuntimeError("the process that inserts has ended: see the lines above") from None
    finally:
        process.join(timeout=60)
        process.kill()
    _check_inserted(database, records)
    (log,) = kafka.data_dir.glob(f"log/{topic}-0")
    return _figures(records, start_records, end - first, database.stat().st_size, _segment_bytes(log))


def _figures(
    records: pa.Table, begin_count: int, seconds: float, file_bytes: int, topic_bytes: int
) -> dict[str, float]:
    rate = (records.num_rows - begin_count) / seconds
    stored = {"file_bytes": file_bytes, "topic_bytes": topic_bytes, "stored_bytes": file_bytes + topic_bytes}
    return {"seconds": round(seconds, 3), "records_a_s": round(rate, 1), **stored}


def _folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _segment_bytes(partition: Path) -> int:
    """Return the bytes of a partition's records in Kafka's folder, without its indexes, which are sparse files."""
    return sum(path.stat().st_size for path in partition.glob("*.log"))


def _counted(daemon: DaemonProcess) -> int:
    count: int = daemon.ask(_CUBE.id, by=[])["rows"][0]["records"]
    return count


def _expected(records: pa.Table) -> int:
    return _totals(records)[0]


def _totals(records: Any) -> tuple[int, int]:
    import duckdb

    sql = f"SELECT count(*), sum(amount)::BIGINT FROM records WHERE {_CUBE.where}"
    with duckdb.connect() as connection:
        connection.register("records", records)
        count, total = connection.execute(sql).fetchall()[0]
    return count, total


def _check_inserted(database: Path, records: pa.Table) -> None:
    """Raise RuntimeError if the totals of the DuckDB file differ from the totals of the records that the cube
    accepts.
    """
    import duckdb

    with duckdb.connect(str(database)) as connection:
        (found,) = connection.execute("SELECT count(*), sum(amount)::BIGINT FROM sales").fetchall()
    if found != _totals(records):
        raise RuntimeError(f"the consumer has inserted {found}, and not {_totals(records)}: {', '.join(MEASURES[:2])}")


def _insert(connection: Connection, bootstrap_servers: str, topic: str, database: str, expected: int) -> None:
    """Insert the records of a topic into a DuckDB file until the file contains ``expected`` records. Then send the time
    to the parent process.
    """
    import io

    import duckdb
    from confluent_kafka import Consumer
    from pyarrow import json

    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest"}
        | {"enable.auto.commit": False}
    )
    consumer.subscribe([topic])
    inserted, columns = 0, ", ".join(_STORED)
    with duckdb.connect(database) as file:
        file.execute("SET threads = 1")
        texts = ", ".join(f"{name} TEXT" for name in DIMENSIONS)
        file.execute(f"CREATE TABLE sales (sold_at TIMESTAMP, {texts}, amount INTEGER, price DOUBLE)")
        while inserted < expected:
            fetched = consumer.consume(_FETCHED, timeout=0.1)
            values = [value for message in fetched if not message.error() and (value := message.value()) is not None]
            if not values:
                continue
            batch = json.read_json(io.BytesIO(b"\n".join(values)), json.ReadOptions(use_threads=False))
            file.register("batch", batch)
            file.execute(f"INSERT INTO sales SELECT {columns} FROM batch")
            inserted += len(values)
        end = time.monotonic()
        file.execute("CHECKPOINT")
    consumer.close()
    connection.send(end)
