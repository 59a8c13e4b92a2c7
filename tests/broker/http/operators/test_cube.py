"""Standing cubes answer over HTTP and on the command line what DuckDB answers over the records."""

from __future__ import annotations

import json
import random
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from asc.operators.cube.cube import Cube
from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.client.client import Client
from broker.config.config import Config, parse_config
from broker.config.sections import ApiConfig
from broker.errors import ForbiddenError
from broker.http.app import create_app
from broker.http.scoped_service import ScopedService
from broker.operators.cube.cubes_file import cubes_path
from broker.operators.cube.first_limits import FIRST_WINDOWS_MAX
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.question_turns import QUESTIONS_MAX
from cli.main import main

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
OPERATOR = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS flights", "sum(delay) AS delay", "max(delay) AS worst", "avg(delay) AS mean"],
    "time": "ts",
    "grain_s": 3_600,
}
Row = dict[str, Any]


def rows_of(seed: int, count: int, hour: int) -> list[Row]:
    """Records of one hour, some of them with NULL for a dimension or a measure."""
    drawn = random.Random(seed)
    return [
        {
            "origin": drawn.choice(["JFK", "EWR", "LGA", None]),
            "dest": drawn.choice(["SFO", "O'HARE", "Zürich"]),
            "carrier": drawn.choice(["B6", "UA", None]),
            "delay": drawn.choice([None, -3, 0, 7, 2_000_000_000]),
            "ts": (BEGIN + timedelta(hours=hour, seconds=drawn.randrange(3_600))).isoformat(),
        }
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder, own = tmp_path_factory.mktemp("cubes"), uuid.uuid4().hex[:12]
    ddl = "origin STRING, dest STRING, carrier STRING, delay INT, ts TIMESTAMP"
    stream = {"topic": f"flights-{own}", "format": "json", "schema": ddl}
    return site_of(
        parse_config(
            {
                "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
                "api": {"port": 0},
                "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
                "streams": {f"json-{own}": stream},
            }
        )
    )


@pytest.fixture(scope="module")
def published(site: Site) -> list[Row]:
    """The records of five hours in three batches, of which a cube has seen all."""
    body = {"id": "late", "where": "delay >= 0 OR delay IS NULL", "operator": OPERATOR, "topic": site.topic("late")}
    assert site.client.post("/v1/queries", json=body).status_code == 201
    found: list[Row] = []
    for hours in ((0, 1), (2, 3), (4,)):
        batch = [row for hour in hours for row in rows_of(hour, 300, hour)]
        site.publish([json.dumps(row).encode() for row in batch])
        site.drain()
        found += batch
    return found


def asked(site: Site, body: Row) -> Any:
    answer = site.client.post("/v1/queries/late/cube/query", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_duckdb(rows: Sequence[Row], group: Sequence[str], where: str = "true") -> list[Row]:
    table = pa.table(
        {name: [row[name] for row in rows] for name in rows[0]},
        pa.schema(
            [
                *((name, pa.string()) for name in ("origin", "dest", "carrier")),
                ("delay", pa.int32()),
                ("ts", pa.string()),
            ]
        ),
    )
    with duckdb.connect() as connection:
        connection.register("flights", table)
        names = ", ".join(group)
        found = connection.execute(
            f"SELECT {names}{',' * bool(group)} count(*), sum(delay), max(delay), avg(delay) FROM flights "
            f"WHERE (delay >= 0 OR delay IS NULL) AND ({where}) "
            + (f"GROUP BY {names} ORDER BY {', '.join(f'{name} NULLS FIRST' for name in group)}" if group else "")
        ).fetchall()
    width = len(group)
    return [
        {
            "group": dict(zip(group, row, strict=False)),
            "flights": row[width],
            "delay": None if row[width + 1] is None else int(row[width + 1]),
            "worst": row[width + 2],
            "mean": row[width + 3],
        }
        for row in found
    ]


def test_every_group_is_that_of_duckdb(site: Site, published: list[Row]) -> None:
    for group in ([], ["carrier"], ["origin"], ["origin", "dest"], ["origin", "dest", "carrier"]):
        assert asked(site, {"by": group, "live": True})["rows"] == by_duckdb(published, group)
    where = "origin = 'JFK' OR dest = 'O''HARE' AND carrier IS NULL"
    # Of Spark two literals side by side are one.
    found = asked(site, {"by": ["carrier"], "where": where.replace("''", "\\'"), "live": True})
    assert found["rows"] == by_duckdb(published, ["carrier"], where)
    sets = asked(site, {"by": [["carrier"], []], "live": True})
    assert sets["rows"] == [*by_duckdb(published, ["carrier"]), *by_duckdb(published, [])]


def test_an_interval_is_of_closed_panes_and_says_what_it_is_of(site: Site, published: list[Row]) -> None:
    # The watermark is in the last hour: four panes are closed.
    closed = [row for row in published if row["ts"] < (BEGIN + timedelta(hours=4)).isoformat()]
    found = asked(site, {"by": ["carrier"]})
    assert found["rows"] == by_duckdb(closed, ["carrier"])
    assert found["interval"] == ["2026-06-01T00:00:00Z", "2026-06-01T04:00:00Z"]
    assert found["answered_by"][0]["panes"] == 4
    assert found["watermark"].startswith("2026-06-01T04:")
    one = [
        row for row in published if BEGIN.replace(hour=3).isoformat() <= row["ts"] < BEGIN.replace(hour=4).isoformat()
    ]
    for interval in ({"last_s": 3_600}, {"from": "2026-06-01T03:00:00Z", "to": "2026-06-01T04:00:00Z"}):
        assert asked(site, {"by": ["origin"], **interval})["rows"] == by_duckdb(one, ["origin"])


@pytest.mark.parametrize("hours", [1, 2, 24])
def test_with_a_grain_there_are_the_groups_of_each_interval(site: Site, published: list[Row], hours: int) -> None:
    found = asked(site, {"by": [["carrier"], []], "live": True, "grain_s": 3_600 * hours})
    expected: list[Row] = []
    for group in (["carrier"], []):
        for begin in range(0, 5, hours):
            first, end = (BEGIN + timedelta(hours=each) for each in (begin, begin + hours))
            own = [row for row in published if first.isoformat() <= row["ts"] < end.isoformat()]
            pane = first.isoformat().replace("+00:00", "Z")
            expected += [{"pane": pane, **row} for row in by_duckdb(own, group)]
    assert found["rows"] == expected
    assert found["groups"] == len(expected)


def test_days_and_hours_are_those_of_the_zone(site: Site, published: list[Row]) -> None:
    found = asked(site, {"by": ["carrier"], "live": True, "grain": "1d", "hours": "1-3,4-5"})
    first, end = "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z"
    own = [row for row in published if int(row["ts"][11:13]) in (1, 2, 4)]
    assert found["rows"] == [{"pane": first, "window": [first, end], **row} for row in by_duckdb(own, ["carrier"])]
    assert asked(site, found["roll_up"][0])["rows"][0]["flights"] == by_duckdb(own, [])[0]["flights"]


def test_a_cursor_goes_through_all_rows_and_links_can_be_asked(site: Site, published: list[Row]) -> None:
    body: Row = {"by": ["origin", "dest", "carrier"], "live": True, "limit": 7}
    rows, cursor = [], None
    while True:
        found = asked(site, {**body, "cursor": cursor})
        rows += found["rows"]
        cursor = found["cursor"]
        if cursor is None:
            break
    assert rows == by_duckdb(published, ["origin", "dest", "carrier"])
    for beside in (*found["roll_up"], *found["drill_down"]):
        assert asked(site, beside)["rows"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"by": ["tail"]}, 400, "by 'tail': is no dimension"),
        ({"by": "carrier"}, 400, "field by 'carrier': "),
        ({"group": []}, 400, "unknown field"),
        ({"by": [], "from": "2026-06-01T00:30:00Z"}, 400, "is off the grain of 1h"),
        ({"by": [], "where": "delay > 3"}, 400, "'delay': is no dimension"),
        ({"by": [], "where": "origin = 'a"}, 400, "origin = "),
        ({"measures": ["median"]}, 400, "measure 'median': is not declared"),
        ({"limit": 0}, 400, "limit"),
        ({"limit": 100_001}, 400, "limit"),
        ({"cursor": "1-1"}, 400, "is of another commit"),
        ({"last_s": 90}, 400, "is off the grain"),
        ({"grain_s": 1_800}, 400, "is no multiple of the cube's grain of 1h: give one, as 3600"),
        ({"answer_from": ["origin"]}, 400, "field answer_from 'list': give a stored view as an object, as {"),
        ({"grain_s": 18_000}, 400, "whole hours that divide 24"),
        ({"grain_s": "1h"}, 400, "grain_s"),
        ({"grain": "1w"}, 400, "grain"),
        (
            {"grain": "1d", "from": "2026-06-01T03:00:00Z"},
            400,
            "off the days of UTC: give the begin of one, as 2026-06-01",
        ),
        ({"hours": "14"}, 400, "hours '14': give ranges of local hours"),
        ({"from": "2026-06-01T03:00:00Z", "grain_s": 7_200}, 400, "give a multiple, as 2026-06-01T02:00:00Z"),
        ({"late": "yes"}, 400, "late"),
        ({"by": ["\ud800"]}, 400, "surrogate"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(
    site: Site, published: list[Row], body: Row, status: int, said: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = site.client.post("/v1/queries/late/cube/query", content=json.dumps(body), headers=headers)
    assert answer.status_code == status, answer.text
    assert said in answer.json()["error"]["message"]
    assert "\n" not in answer.json()["error"]["message"]


def test_states_are_merged_and_asked_without_the_daemon(site: Site, published: list[Row]) -> None:
    assert site.daemon is not None
    halves = []
    for begin, end in (("2026-06-01T00:00:00Z", "2026-06-01T02:00:00Z"), ("2026-06-01T02:00:00Z", None)):
        body = {"by": ["carrier"], "from": begin, "to": end, "live": True, "states": True}
        answer = site.client.post("/v1/queries/late/cube/query", json=body)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/vnd.apache.arrow.stream")
        halves.append(Cube.of_states(answer.content))
    halves[0].merge(halves[1])
    whole = asked(site, {"by": ["carrier"], "live": True})
    assert halves[0].query({"by": ["carrier"]})["rows"] == whole["rows"]
    table = pa.ipc.open_stream(answer.content).read_all()
    facts = json.loads(table.schema.metadata[b"asc.cube"])
    assert (facts["commit"], facts["whole"]) == (whole["commit"], whole["whole"])
    assert facts["generation"] == halves[1].generation == asked_generation(site)
    refused = site.client.post("/v1/queries/late/cube/query", json={"states": True, "limit": 3})
    assert (refused.status_code, "limit 3: goes with rows" in refused.text) == (400, True)


def asked_generation(site: Site) -> Any:
    return site.client.get("/v1/queries/late").json()["kept"]["generation"]


def test_beside_as_many_questions_as_may_be_it_is_told_when_to_ask_again(site: Site, published: list[Row]) -> None:
    assert site.daemon is not None
    folder = site.daemon.streams()[site.stream("json")].folders["cube"]
    assert isinstance(folder, CubeFolder)
    with ExitStack() as others:
        for _ in range(QUESTIONS_MAX):
            others.enter_context(folder.keeper.questions._turns.turn(60.0))
        answer = site.client.post("/v1/queries/late/cube/query", json={})
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "1"), answer.text
    assert site.client.post("/v1/queries/late/cube/query", json={}).status_code == 200


def test_only_a_cube_is_asked_and_by_who_may_read_its_columns(site: Site, published: list[Row]) -> None:
    assert site.client.post("/v1/queries/none/cube/query", json={}).status_code == 404
    site.register("plain", "delay > 3", site.topic("plain"))
    refused = site.client.post("/v1/queries/plain/cube/query", json={})
    assert (refused.status_code, "'asc query list --operator cube'" in refused.text) == (404, True)
    for columns, is_refused in ((["delay", "ts"], True), (["origin", "dest", "carrier", "delay", "ts"], False)):
        scope = Scope("few", columns=frozenset((name,) for name in columns))
        permitted = ScopedService(site.daemon, scope, "here", Audit())
        with pytest.raises(ForbiddenError, match="column") if is_refused else nullcontext():
            permitted.check_reads(permitted.get("late"))


def test_a_backfill_is_requested_by_who_may_change_and_read_the_cube(site: Site, published: list[Row]) -> None:
    scopes = [
        Scope("reader", read_only=True),
        Scope("few", columns=frozenset({("delay",)})),
        Scope("mine", id_prefix="mine-"),
        Scope("all"),
    ]
    access = Access("root" * 10, {digest(scope.name): scope for scope in scopes})
    assert site.daemon is not None
    with TestClient(create_app(site.daemon, access, ApiConfig(), Audit())) as client:

        def status(method: str, token: str, query: str = "late") -> int:
            headers = {"Authorization": f"Bearer {token}"}
            json_body = {"json": {}} if method == "POST" else {}
            return client.request(
                method, f"/v1/queries/{query}/cube/backfill", headers=headers, **json_body
            ).status_code

        assert [status("POST", scope.name) for scope in scopes] == [403, 403, 403, 200]
        assert [status("GET", scope.name) for scope in scopes] == [200, 403, 403, 200]
        assert status("POST", "all", "none") == 404


def test_the_lattice_and_the_optimiser_are_for_who_may_read_or_change(site: Site, published: list[Row]) -> None:
    scopes = [Scope("reader", read_only=True), Scope("few", columns=frozenset({("delay",)})), Scope("all")]
    access = Access("root" * 10, {digest(scope.name): scope for scope in scopes})
    assert site.daemon is not None
    with TestClient(create_app(site.daemon, access, ApiConfig(), Audit())) as client:

        def statuses(method: str, path: str, **body: Any) -> list[int]:
            own = {"json": body} if method == "POST" else {}
            headers = [{"Authorization": f"Bearer {scope.name}"} for scope in scopes]
            url = f"/v1/queries/late/cube/{path}"
            return [client.request(method, url, headers=each, **own).status_code for each in headers]

        assert statuses("GET", "lattice") == [200, 403, 200]
        assert statuses("POST", "optimise", dry_run=True) == [200, 403, 200]
        assert statuses("POST", "optimise") == [403, 403, 200]
        assert statuses("POST", "optimise", dry_run="yes") == [400, 400, 400]


def test_the_command_prints_groups_and_the_interval(site: Site, published: list[Row]) -> None:
    assert site.daemon is not None
    done = CliRunner().invoke(
        main, ["cube", "query", "late", "--by", "carrier", "--total", "--live", "--server", site.daemon.url]
    )
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["carrier", "flights", "delay", "worst", "mean"]
    total = by_duckdb(published, [])[0]
    assert lines[4].split()[0] == f"{total['flights']:,}"
    assert lines[5].startswith("4 groups, 2026-06-01T00:00:00Z to 2026-06-01T05:00:00Z, watermark 2026-06-01T04:")
    with Client(site.daemon.url) as client:
        assert client.cubes.query("late", {"live": True})["rows"] == by_duckdb(published, [])
    options = ["--from", "2026-06-01", "--to", "2026-06-02", "--measures", "flights", "--server", site.daemon.url]
    done = CliRunner().invoke(
        main, ["cube", "query", "late", "--by", "carrier", "--grain", "1d", "--live", "--late", *options]
    )
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["pane", "to", "carrier", "flights"]
    assert lines[1].split()[:3] == ["2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z", "NULL"]
    options = ["--live", "--measures", "flights", "--server", site.daemon.url, "--json"]
    done = CliRunner().invoke(main, ["cube", "query", "late", "--grain", "24h", "--hours", "22-2", *options])
    assert done.exit_code == 0, done.output
    own = [row for row in published if row["ts"][11:13] in ("00", "01")]
    row = {"pane": "2026-06-01T00:00:00Z", "group": {}, "flights": by_duckdb(own, [])[0]["flights"]}
    assert json.loads(done.stdout)["rows"] == [row]


def test_a_check_says_how_large_a_cube_would_be(site: Site, published: list[Row]) -> None:
    assert site.daemon is not None
    options = ["--dimensions", "carrier", "--measures", "count(*)", "--time", "ts", "--where", "delay = 7"]
    command = ["cube", "check", "few", *options, "--grain", "1h", "--stream", site.stream("json")]
    done = CliRunner().invoke(main, [*command, "--server", site.daemon.url])
    assert done.exit_code == 0, done.output
    accepted = [row for row in published if row["delay"] == 7]
    cells = len({(row["ts"][:13], row["carrier"]) for row in accepted})
    with Client(site.daemon.url) as client:
        operator = {**OPERATOR, "dimensions": [["carrier"]]}
        found = client.check("delay > 9000000000", stream=site.stream("json"), operator=operator)
    # The site publishes some of its own besides.
    records = found["estimate"]["records"]
    assert records >= len(published)
    assert found["estimate"]["cells"] is None
    text = f"it has 2 cuboids; of {records:,} records it counts {len(accepted):,}: {cells} cells in 5 panes, "
    assert done.stdout.splitlines()[-1].startswith(text)


def restored(site: Site, path: Path, folder: Path) -> Any:
    """Return the rows of a keeper that starts with a copy."""
    assert site.daemon is not None
    stream = site.daemon.streams()[site.stream("json")]
    place = cubes_path(folder, stream.name)
    place.parent.mkdir(parents=True)
    path.rename(place)
    keeper = Keeper.open(place, stream.analyser.attributes, CubeLimits(), lateness_s=10, time_zone=stream.time_zone)
    try:
        (cube,) = keeper.snapshot.cubes
        return keeper.questions.query(cube, {"by": ["carrier"], "live": True})
    finally:
        keeper.close()


def test_a_dump_answers_as_the_daemon_does(site: Site, published: list[Row], tmp_path: Path) -> None:
    assert site.daemon is not None
    command = ["cube", "dump", "--server", site.daemon.url, str(tmp_path / "copy.sqlite")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    size_bytes = (tmp_path / "copy.sqlite").stat().st_size
    text = f"{tmp_path}/copy.sqlite: the cubes of stream '{site.stream('json')}', {size_bytes:,} bytes"
    assert done.stdout.strip() == text
    refused = CliRunner().invoke(main, command)
    assert (refused.exit_code, "is there already" in refused.output) == (1, True)
    found = restored(site, tmp_path / "copy.sqlite", tmp_path / "checkpoint")
    assert found == asked(site, {"by": ["carrier"], "live": True})
    json_done = CliRunner().invoke(main, [*command[:-1], "--json", str(tmp_path / "again")])
    assert json.loads(json_done.stdout)["bytes"] == (tmp_path / "again").stat().st_size
    # A client that hangs up lets the next one have its turn.
    host, port = site.daemon.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as hung_up:
        hung_up.sendall(f"GET /v1/streams/{site.stream('json')}/cubes/dump HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    deadline = time.monotonic() + 60
    while site.client.get(f"/v1/streams/{site.stream('json')}/cubes/dump").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    # Nothing of it is beside the file.
    (folder,) = {path.parent for path in Path(site.config.spark.checkpoint_dir).rglob("cubes.sqlite")}
    assert sorted(path.name for path in folder.iterdir()) == ["cubes.sqlite", "cubes.sqlite-wal"]


def test_a_dump_is_for_who_may_read_everything_and_of_streams_with_cubes(site: Site, published: list[Row]) -> None:
    own = site.stream("json")
    scopes = [
        Scope("mine", id_prefix="mine-"),
        Scope("few", columns=frozenset({("delay",)})),
        Scope("elsewhere", streams=frozenset({"other"})),
        Scope("reader", read_only=True, streams=frozenset({own})),
    ]
    access = Access("root" * 10, {digest(scope.name): scope for scope in scopes})
    assert site.daemon is not None
    with TestClient(create_app(site.daemon, access, ApiConfig(), Audit())) as client:

        def status(token: str) -> int:
            headers = {"Authorization": f"Bearer {token}"}
            return client.get(f"/v1/streams/{own}/cubes/dump", headers=headers).status_code

        assert [status(scope.name) for scope in scopes] == [403, 403, 403, 200]
        assert status("root" * 10) == 200
        unknown = client.get("/v1/streams/none/cubes/dump", headers={"Authorization": f"Bearer {'root' * 10}"})
        assert (unknown.status_code, "none" in unknown.text) == (400, True)


def by_airline(rows: Sequence[Row]) -> list[Row]:
    found = by_duckdb(rows, ["carrier"])
    names = {"B6": "JetBlue", "UA": None, None: None}
    flights = dict.fromkeys(("JetBlue", None), 0)
    for row in found:
        flights[names[row["group"]["carrier"]]] += row["flights"]
    return [{"group": {"airlines.name": name}, "flights": flights[name]} for name in (None, "JetBlue")]


def test_the_command_stores_a_look_up_that_answers_use(site: Site, published: list[Row], tmp_path: Path) -> None:
    assert site.daemon is not None
    file = tmp_path / "airlines.csv"
    file.write_text("carrier,name,seats\nB6,JetBlue,150\nXX,Nobody,1\n")
    server = ["--server", site.daemon.url]
    done = CliRunner().invoke(main, ["cube", "lookup", "airlines", "--key", "carrier", str(file), *server])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("airlines: 2 rows by carrier, 2 attributes, ")
    body = {"by": ["airlines.name"], "live": True, "measures": ["flights"]}
    assert asked(site, body)["rows"] == by_airline(published)
    asked_for = ["--by", "airlines.name", "--where", "airlines.seats > 100", "--live", "--measures", "flights"]
    done = CliRunner().invoke(main, ["cube", "query", "late", *asked_for, *server])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].split()[0] == "JetBlue"


def test_a_restart_and_records_published_twice_read_count_once(site: Site, published: list[Row]) -> None:
    before = asked(site, {"by": ["carrier"], "live": True})["rows"]
    site.stop_before_its_commit()
    site.daemon = site.start()
    site.drain()
    assert asked(site, {"by": ["carrier"], "live": True})["rows"] == before
    airlines = {"by": ["airlines.name"], "live": True, "measures": ["flights"]}
    assert asked(site, airlines)["rows"] == by_airline(published)
    # Other daemons of the same Kafka have it too.
    assert site.client.delete("/v1/cube/lookups/airlines").status_code == 200
    more = rows_of(99, 50, 4)
    site.publish([json.dumps(row).encode() for row in more])
    site.drain()
    assert asked(site, {"by": ["carrier"], "live": True})["rows"] == by_duckdb([*published, *more], ["carrier"])


def test_after_a_pause_the_answer_names_its_gap(site: Site, published: list[Row]) -> None:
    assert site.client.put("/v1/queries/late", json={"paused": True}).status_code == 200
    site.publish([json.dumps(row).encode() for row in rows_of(7, 20, 6)])
    site.drain()
    assert site.client.put("/v1/queries/late", json={"paused": False}).status_code == 200
    site.publish([json.dumps(row).encode() for row in rows_of(8, 20, 9)])
    site.drain()
    found = asked(site, {"live": True})
    assert "paused" in {gap["reason"] for gap in found["gaps"]}
    assert not found["whole"]


def test_late_records_that_stay_apart_are_in_answers_that_ask_for_them(site: Site, published: list[Row]) -> None:
    where, topic = "delay = -100", site.topic("apart")
    operator = {**OPERATOR, "dimensions": [["carrier"]], "measures": ["count(*) AS n"], "late": "apart"}
    body = {"id": "apart", "where": where, "operator": operator, "topic": topic}
    answer = site.client.post("/v1/queries", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["query"]["operator"]["late"] == "apart"

    def publish(*hours: int) -> None:
        site.publish([json.dumps({**row, "delay": -100}).encode() for hour in hours for row in rows_of(1, 10, hour)])
        site.drain()

    def counts() -> list[int]:
        totals = [
            site.client.post("/v1/queries/apart/cube/query", json={"live": True, "late": late}).json()["rows"][0]["n"]
            for late in (False, True)
        ]
        kept = site.client.get("/v1/queries/apart").json()["kept"]
        return [*totals, kept["counted"], kept["late"], kept["apart"]]

    publish(11, 12)
    publish(1, 13)
    assert counts() == [30, 40, 30, 0, 10]
    site.stop_before_its_commit()
    site.daemon = site.start()
    site.drain()
    assert counts() == [30, 40, 30, 0, 10]
    # All that was kept stays, and later ones join their panes.
    changed = site.client.put("/v1/queries/apart", json={"operator": {**operator, "late": "merge"}})
    assert changed.status_code == 200, changed.text
    publish(2, 14)
    assert counts() == [50, 60, 50, 10, 10]
    line = site.client.get("/v1/queries/apart").json()["kept"]["accounting"]
    assert line.startswith("60 accepted = 50 counted (10 late) + 10 apart + 0 expired + 0 time")
    metrics = site.client.get("/metrics").text
    (apart,) = [own for own in metrics.splitlines() if 'query="apart"' in own and 'outcome="apart"' in own]
    assert apart.endswith(" 10.0")


def test_windows_that_a_batch_leaves_are_written_though_no_record_comes(site: Site, published: list[Row]) -> None:
    cuboids = [[], ["origin"], ["dest"], ["carrier"]]
    plain = {
        "name": "cube",
        "dimensions": [["origin"], ["dest"], ["carrier"]],
        "measures": ["count(*) AS n"],
        "time": "timestamp_seconds(delay)",
        "grain_s": 1,
        **{"output": cuboids, "window_s": 1_440, "slide_s": 1},
    }
    topic = site.topic("left")
    where = "delay < -1000 AND ts IS NULL"
    answer = site.client.post("/v1/queries", json={"id": "left", "where": where, "operator": plain, "topic": topic})
    assert answer.status_code == 201, answer.text
    rows = ({"origin": "JFK", "dest": "SFO", "carrier": "B6", "delay": delay} for delay in (-20_000, -2_000))
    site.publish([json.dumps(row).encode() for row in rows])
    # The first record is in 1,440 windows, and a batch writes 5,000 rows of windows at a time.
    expected = 1_440 * len(cuboids)
    assert expected > FIRST_WINDOWS_MAX
    deadline = time.monotonic() + 120
    while (count := written(site, topic)) < expected and time.monotonic() < deadline:
        time.sleep(0.5)
    assert count == expected
    assert site.client.delete("/v1/queries/left").status_code == 200


def written(site: Site, topic: str) -> int:
    """Return the number of rows of a topic that have a value."""
    from kafka import KafkaConsumer, TopicPartition

    place = TopicPartition(topic, 0)
    consumer: KafkaConsumer = KafkaConsumer(bootstrap_servers=site.bootstrap_servers)
    try:
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        end, found = consumer.end_offsets([place])[place], 0
        while consumer.position(place) < end:
            found += sum(one.value is not None for one in consumer.poll(500).get(place, ()))
        return found
    finally:
        consumer.close()


def test_a_view_is_chosen_for_what_is_asked_and_answers_it(site: Site, published: list[Row]) -> None:
    viewed = {"id": "viewed", "where": "delay = -200", "operator": OPERATOR, "topic": site.topic("viewed")}
    assert site.client.post("/v1/queries", json=viewed).status_code == 201
    for hour in range(48, 53):
        site.publish([json.dumps({**row, "delay": -200}).encode() for row in rows_of(hour, 60, hour)])
    site.drain()

    def asked_viewed(**more: Any) -> Row:
        times = {"from": (BEGIN + timedelta(hours=48)).isoformat(), "to": (BEGIN + timedelta(hours=52)).isoformat()}
        found = site.client.post("/v1/queries/viewed/cube/query", json={"by": ["origin"], **times, **more})
        assert found.status_code == 200, found.text
        answer: Row = found.json()
        return answer

    wanted = asked_viewed()["rows"]
    for _ in range(29):
        assert asked_viewed()["rows"] == wanted
    server = ["--server", str(site.client.base_url)]
    before = site.client.get("/v1/queries/viewed/cube/lattice").json()["views"]
    (demanded,) = [own for own in before if (own["cuboid"], own["grain_s"]) == (["origin"], 4 * 3_600)]
    assert (demanded["role"], demanded["asked_an_hour"], demanded["is_estimated"]) == ("none", 30, True)
    dry = CliRunner().invoke(main, ["cube", "optimise", "viewed", "--dry-run", *server])
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.startswith("+ origin at 4h: 4 cells, saves "), dry.stdout
    assert site.client.get("/v1/queries/viewed/cube/lattice").json()["views"] == before
    done = CliRunner().invoke(main, ["cube", "optimise", "viewed", *server])
    assert done.stdout.splitlines()[0] == dry.stdout.splitlines()[0]
    # The daemon fills it in the background.
    until_s = time.monotonic() + 60
    while asked_viewed()["answered_by"][0]["grain_s"] != 4 * 3_600:
        assert time.monotonic() < until_s
        time.sleep(0.2)
    found = asked_viewed()
    assert (found["rows"], found["answered_by"][0]["cells"]) == (wanted, len(wanted))
    forced = asked_viewed(answer_from={"by": ["origin", "dest", "carrier"]})
    assert (forced["rows"], forced["answered_by"][0]["grain_s"]) == (wanted, 3_600)
    for view, grain_s in (
        ("origin, dest, carrier", 3_600),
        ("origin, dest, carrier at 1h", 3_600),
        ("origin at 4h", 14_400),
    ):
        options = ["--by", "origin", "--answer-from", view, "--json", *server]
        answer = json.loads(CliRunner().invoke(main, ["cube", "query", "viewed", *options]).stdout)
        assert {own["grain_s"] for own in answer["answered_by"] if own["cells"]} == {grain_s}
    kept = site.client.get("/v1/queries/viewed").json()["kept"]
    assert (kept["views"], kept["view_cells"]) == (1, len(wanted))
    table = CliRunner().invoke(main, ["cube", "lattice", "viewed", *server])
    assert "chosen" in table.stdout.splitlines()[2], table.output
    (metric,) = [own for own in site.client.get("/metrics").text.splitlines() if 'query="viewed",role="chosen"' in own]
    assert metric.endswith(" 1.0")
