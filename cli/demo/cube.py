"""``asc demo cube``: a standing cube whose daemon is killed while it counts, and the report of the demonstration."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cli.demo.daemon import PATIENCE_S, say
from cli.demo.process import DemoProcess
from cli.demo.run import published_sample
from cli.failure import CommandError
from cli.output import counted, table_text
from workloads.flights import SAMPLE_ROWS, SCHEMA, sample_path

if TYPE_CHECKING:
    from broker.client.client import Client

STREAM, CUBE = "flights", "late"
WHERE = "arr_delay > 0"
OPERATOR: Mapping[str, Any] = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS flights", "sum(arr_delay) AS delay", "max(arr_delay) AS worst"],
    "time": "time_hour",
    "grain_s": 86_400,
}
CUBOIDS: Sequence[tuple[str, ...]] = (
    ("origin", "dest", "carrier"),
    ("origin", "dest"),
    ("origin", "carrier"),
    ("origin",),
    ("carrier",),
    (),
)
DAY = ("2013-07-10T00:00:00Z", "2013-07-11T00:00:00Z")
SHOWN = ("carrier",)

_BATCH = 1_000
"""The number of records per batch. The number is small, so that many batches remain when the daemon is killed."""

_LOOK_S = 0.1
_LIMIT = 100_000

Groups = dict[tuple[Any, ...], tuple[Any, ...]]


def run_cube() -> dict[str, Any]:
    """Run the demonstration in a temporary folder, and return the report. ``agrees`` in the report is true if every
    group of the cube equals the group that DuckDB computes.
    """
    if find_spec("duckdb") is None:
        raise CommandError("package", "duckdb", "is missing, and the answers are compared with it: pip install duckdb")
    from bench.ports import free_port
    from bench.traffic import make_topics
    from broker.client.client import Client
    from broker.kafka.embedded import EmbeddedKafka

    say("starting an embedded Kafka and the daemon ...")
    with tempfile.TemporaryDirectory(prefix="asc-demo-") as name, EmbeddedKafka(Path(name) / "kafka") as kafka:
        folder, port = Path(name), free_port()
        make_topics(kafka.bootstrap_servers, STREAM)
        config = folder / "asc.toml"
        config.write_text(_config(kafka.bootstrap_servers, port, folder / "checkpoint"), "utf-8")
        daemon = DemoProcess(config)
        with Client(f"http://127.0.0.1:{port}") as client:
            killed_at = _until_killed(daemon, client)
            say("it is killed; starting it again ...")
            with daemon.launched(client):
                report = _until_counted(client)
        return {**report, "killed_at": killed_at, "accounting": _accounting(folder / "checkpoint")}


def compared(groups: Groups, expected: Groups) -> dict[str, Any]:
    """Return the number of groups of a cuboid, the number of groups that DuckDB computes, and whether all groups are
    equal.

    >>> compared({("B6",): (2, 61, 45)}, {("B6",): (2, 61, 45), ("UA",): (1, 3, 3)})
    {'groups': 1, 'expected': 2, 'agrees': False}
    """
    return {"groups": len(groups), "expected": len(expected), "agrees": groups == expected}


def report_text(report: Mapping[str, Any]) -> str:
    """Return the report as text for the terminal."""
    names = [*SHOWN, "flights", "delay", "worst"]
    rows = table_text(names, [[*row["group"].values(), *(row[name] for name in names[1:])] for row in report["rows"]])
    day, _, _ = DAY[0].partition("T")
    cuboids = table_text(
        ["cuboid", "interval", "groups", "DuckDB", "agrees"],
        [[", ".join(own["by"]) or "()", own["interval"], *_figures(own)] for own in report["cuboids"]],
    )
    accounting = report["accounting"]
    verdict = "every group of the cube equals what DuckDB answers over the file"
    return "\n\n".join(
        [
            f"Late flights of {day} by carrier:\n{rows}",
            cuboids,
            f"The daemon was killed (kill -9) when it had counted {report['killed_at']:,} of "
            f"{report['expected']:,} records, and started again.",
            f"{SAMPLE_ROWS:,} flights published; {accounting['accounting']}; "
            f"{counted(accounting['cells'], 'cell')}, {accounting['bytes']:,} bytes.",
            f"OK: {verdict}." if report["agrees"] else f"FAILED: not {verdict}.",
        ]
    )


def _config(bootstrap_servers: str, port: int, checkpoint_dir: Path) -> str:
    return f"""
        [kafka]
        bootstrap_servers = "{bootstrap_servers}"
        [api]
        port = {port}
        [spark]
        checkpoint_dir = "{checkpoint_dir}"
        time_zone = "UTC"
        max_records_per_batch = {_BATCH}
        [streams.{STREAM}]
        topic = "{STREAM}"
        format = "json"
        schema = "{SCHEMA}"
        starting_offsets = "earliest"
    """


def _until_killed(daemon: DemoProcess, client: Client) -> int:
    """Register the cube, publish the flights, and kill the daemon while the cube counts them. Return the number of
    flights that the cube had counted.
    """
    from cli.client import kafka_of, stream_of

    with daemon.launched(client):
        say(f"registering cube {CUBE} through {client.url} ...")
        client.register({"id": CUBE, "where": WHERE, "operator": OPERATOR})
        say(f"publishing {sample_path().name} into topic {STREAM} ...")
        published_sample(kafka_of(client, None), stream_of(client, STREAM))
        found = _await_count(client, 1)
        daemon.kill()
    return found


def _until_counted(client: Client) -> dict[str, Any]:
    """Wait until all records are counted. Compare each cuboid, for all days and for one day, with DuckDB."""
    expected = duckdb_groups((), None)[()][0]
    _await_count(client, expected)
    say("asking the cube, and DuckDB over the file ...")
    intervals = (("all", None), (DAY[0].partition("T")[0], DAY))
    cuboids = [
        {"by": list(by), "interval": name, **compared(_asked(client, by, days), duckdb_groups(by, days))}
        for name, days in intervals
        for by in CUBOIDS
    ]
    question = {"by": list(SHOWN), "from": DAY[0], "to": DAY[1], "live": True}
    return {
        "agrees": all(own["agrees"] for own in cuboids),
        "expected": expected,
        "cuboids": cuboids,
        "rows": client.cubes.query(CUBE, question)["rows"],
    }


def _await_count(client: Client, least: int) -> int:
    """Wait until the cube has counted at least ``least`` records, and return its count. Raise CommandError if the count
    does not increase for a minute.
    """
    count, since_s = 0, time.monotonic()
    while count < least:
        found = _counted(client)
        if found > count:
            count, since_s = found, time.monotonic()
        elif time.monotonic() - since_s > PATIENCE_S:
            raise CommandError("cube", CUBE, f"counts {count:,} of {least:,} records, and no more come: see --debug")
        else:
            time.sleep(_LOOK_S)
    return count


def _counted(client: Client) -> int:
    """Return the number of records that the cube has counted. Return 0 before the first batch is committed."""
    from broker.client.errors import NotFoundError

    try:
        (row,) = client.cubes.query(CUBE, {"by": [], "live": True})["rows"]
    except NotFoundError:
        return 0
    return cast("int", row["flights"])


def _asked(client: Client, by: Sequence[str], days: tuple[str, str] | None) -> Groups:
    interval = {} if days is None else {"from": days[0], "to": days[1]}
    question = {"by": list(by), "live": True, "limit": _LIMIT, **interval}
    rows = cast("list[dict[str, Any]]", client.cubes.query(CUBE, question)["rows"])
    return {tuple(row["group"][name] for name in by): (row["flights"], row["delay"], row["worst"]) for row in rows}


def duckdb_groups(by: Sequence[str], days: tuple[str, str] | None) -> Groups:
    """Return the groups that DuckDB computes from the packaged file, each with its measures. ``by``: the columns that
    it groups by. ``days``: an interval of time, from the first text to before the second; None means all days.
    """
    import duckdb

    days_sql = "" if days is None else f" AND time_hour >= '{days[0]}' AND time_hour < '{days[1]}'"
    measures = "count(*), sum(arr_delay)::BIGINT, max(arr_delay)"
    columns = ", ".join([*by, measures])
    group_by = f" GROUP BY {', '.join(by)}" if by else ""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        read = "read_csv(?, header = true, types = {'time_hour': 'TIMESTAMPTZ', 'arr_delay': 'INTEGER'})"
        sql = f"SELECT {columns} FROM {read} WHERE {WHERE}{days_sql}{group_by}"
        rows = connection.execute(sql, [str(sample_path())]).fetchall()
    return {tuple(row[: len(by)]): tuple(row[len(by) :]) for row in rows}


def _accounting(checkpoint_dir: Path) -> dict[str, Any]:
    """Return the status of the cube, with the accounting of records, from the file of cubes, after the daemon has
    ended.
    """
    from asc.schema import Schema
    from broker.operators.cube.cubes_file import cubes_path
    from broker.operators.cube.keeper import Keeper
    from broker.operators.cube.merging import CubeLimits

    keeper = Keeper.open(cubes_path(checkpoint_dir, STREAM), Schema.from_ddl(SCHEMA), CubeLimits(), lateness_s=0)
    try:
        (cube,) = keeper.snapshot.cubes
        return keeper.snapshot.status(cube)
    finally:
        keeper.close()


def _figures(own: Mapping[str, Any]) -> list[Any]:
    return [own["groups"], own["expected"], own["agrees"]]
