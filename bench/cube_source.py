"""Functions that send sales to Kafka as a backlog ordered by time, and make the queries that route the sales or roll
them up into cubes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from bench.cube_contenders import GRAIN_S
from bench.daemon_process import STREAM, DaemonProcess
from bench.publish import send_ready
from broker.operators.cube.definition import StandingCube
from broker.queries.query import RegisteredQuery, default_topic
from workloads.sales import MEASURES, SalesCube

ROUTED = 10
"""The number of queries that together deliver each record once; each has a separate topic."""


def write_lines(records: pa.Table, path: Path) -> None:
    """Write sales as lines of JSON."""
    import duckdb

    with duckdb.connect() as connection:
        # Remove the time zone of the column. Otherwise DuckDB would write the times in the time zone of the machine.
        connection.register("records", records.set_column(0, "sold_at", records["sold_at"].cast(pa.timestamp("us"))))
        written = "FORMAT json, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S.%fZ'"
        connection.execute(f"COPY records TO '{path}' ({written})")


def send_lines(daemon: DaemonProcess, path: Path) -> None:
    """Send lines of JSON in order to the source topic of a daemon."""
    send_ready(daemon.bootstrap_servers, daemon.source, path)


def routing_queries(daemon: DaemonProcess) -> Iterator[RegisteredQuery]:
    """Yield ten queries, each of which routes a share of the shops."""
    for number in range(ROUTED):
        yield RegisteredQuery(f"route-{number}", STREAM, f"shop LIKE '%{number}'", daemon.destinations[number])


def cube_query(cube: SalesCube) -> RegisteredQuery:
    """Return the registered query whose operator is the cube."""
    own = {"dimensions": [[name] for name in cube.dimensions], "measures": list(MEASURES)}
    operator = StandingCube.parse({"name": "cube", **own, "time": "sold_at", "grain_s": GRAIN_S})
    return RegisteredQuery(cube.id, STREAM, cube.where, default_topic(cube.id), operator=operator)


def check_totals(daemon: DaemonProcess, cube: SalesCube, records: pa.Table) -> None:
    """Raise RuntimeError if the totals of a standing cube differ from DuckDB's totals over all records."""
    import duckdb

    (row,) = daemon.ask(cube.id, by=[])["rows"]
    sql = f"SELECT {', '.join(MEASURES)} FROM records WHERE {cube.where}"
    with duckdb.connect() as connection:
        connection.register("records", records)
        (expected,) = connection.execute(sql).fetchall()
    found = tuple(value for name, value in row.items() if name != "group")
    *exact, turnover = expected
    # The last total is a sum of doubles, so it is compared with a tolerance.
    if list(found[:-1]) != exact or abs(found[-1] - turnover) > 1e-9 * abs(turnover):
        raise RuntimeError(f"{cube.id} answers {found}, and DuckDB {expected}")
