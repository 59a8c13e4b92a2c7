"""The pages of cubes, through a daemon that runs: what they show is what the cube answers."""

from __future__ import annotations

import html
import json
import random
import re
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from broker.access.access import Access
from broker.access.audit import Audit
from broker.access.scope import Scope
from broker.access.secret import digest
from broker.config.config import Config, parse_config
from broker.config.sections import ApiConfig
from broker.http.app import create_app
from broker.http.console.operators.cube_address import SLICES_MAX
from broker.operators.cube.folder import CubeFolder
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.kind import CUBE
from broker.operators.cube.stored_view import StoredView
from cli.main import main
from tests.broker.http.console.conftest import OWN
from tests.broker.http.console.page_text import page_text

if TYPE_CHECKING:
    from conftest import Site

    from broker.kafka.embedded import EmbeddedKafka

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BEGIN = datetime(2026, 6, 1, tzinfo=timezone.utc)
OPERATOR = {
    "name": "cube",
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": ["count(*) AS flights", "sum(delay) AS delay", "avg(delay) AS mean", "max(dest) AS last"],
    "time": "ts",
    "grain_s": 3_600,
}
LONG = "Llanfairpwllgwyngyll" * 20
DDL = "origin STRING, dest STRING, carrier STRING, tail STRING, delay INT, ts TIMESTAMP"
Row = dict[str, Any]


def rows_of(seed: int, count: int, hour: int) -> list[Row]:
    """Records of one hour: NULL, the text NULL, no text, a long one, and one that looks like markup."""
    drawn = random.Random(seed)
    return [
        {
            "origin": drawn.choice(["JFK", "EWR", "O'HARE", None]),
            "dest": drawn.choice(["SFO", "<b>Zürich</b>", LONG]),
            "carrier": drawn.choice(["B6", "UA", "NULL", "", None]),
            "tail": f"N{drawn.randrange(400):03}",
            "delay": drawn.choice([None, -3, 0, 7, 2_000_000_000]),
            "ts": (BEGIN + timedelta(hours=hour, seconds=drawn.randrange(3_600))).isoformat(),
        }
        for _ in range(count)
    ]


def cubes_config(kafka: EmbeddedKafka, folder: Any) -> Config:
    own = uuid.uuid4().hex[:12]
    return parse_config(
        {
            "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "registry_topic": f"registry-{own}"},
            "api": {"port": 0},
            "spark": {"checkpoint_dir": str(folder / "checkpoint"), "master": "local[2]", "warm_up_s": 0},
            "streams": {f"json-{own}": {"topic": f"flights-{own}", "format": "json", "schema": DDL}},
        }
    )


def filled(site: Site) -> Site:
    """Return a daemon with a cube of few groups, one of hundreds and one without records, after five hours."""
    tails = {**OPERATOR, "dimensions": [["tail"], ["carrier"]], "measures": ["count(*) AS n", "sum(delay) AS delay"]}
    for name, where, operator in (
        ("late", "delay >= 0 OR delay IS NULL", OPERATOR),
        ("tails", "true", tails),
        ("empty", "delay > 2000000001", tails),
    ):
        body = {"id": name, "where": where, "operator": operator, "topic": site.topic(name)}
        assert site.client.post("/v1/queries", json=body).status_code == 201
    for hours in ((0, 1), (3,), (4,)):
        rows = [row for hour in hours for row in rows_of(hour, 300, hour)]
        site.publish([json.dumps(row).encode() for row in rows])
        site.drain()
    site.pass_batch()
    return site


@pytest.fixture(scope="module")
def site(site_of: Callable[[Config], Site], kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return filled(site_of(cubes_config(kafka, tmp_path_factory.mktemp("cube-pages"))))


def folder(site: Site) -> CubeFolder:
    assert site.daemon is not None
    found = site.daemon.streams()[site.stream("json")].folders[CUBE.name]
    assert isinstance(found, CubeFolder)
    return found


def page(site: Site, path: str, status: int = 200) -> str:
    found = site.client.get(path if path.startswith("/") else f"/console/cubes/{path}")
    assert found.status_code == status, found.text
    return str(found.text)


def asked(site: Site, body: Row, query_id: str = "late") -> Any:
    found = site.client.post(f"/v1/queries/{query_id}/cube/query", json=body)
    assert found.status_code == 200, found.text
    return found.json()


def table_of(text: str) -> list[list[str]]:
    """Return the texts of the cells of a page's first table: headings, rows, totals."""
    table = re.search(r"<table>.*?</table>", text, re.DOTALL)
    assert table is not None, page_text(text)
    rows = re.findall(r"<tr>.*?</tr>", table[0], re.DOTALL)
    return [[page_text(cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)] for row in rows]


def bands_of(keeper: Keeper, query_id: str) -> list[StoredView]:
    """Return the bands of a cube, or none if the keeper does not have the cube yet."""
    return [band for cube, state in keeper.snapshot.cubes.items() if cube.query == query_id for band in state.bands]


def awaited(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline_s = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def links_of(text: str) -> dict[str, str]:
    """Return the addresses of a page by the texts of their links."""
    found = re.findall(r'<a (?:class="\w+" )?href="([^"]*)"[^>]*>(.*?)</a>', text, re.DOTALL)
    return {page_text(said).strip(): html.unescape(address) for address, said in found}


def test_groups_and_totals_are_those_of_the_answer(site: Site) -> None:
    found = table_of(page(site, "late?by=carrier"))
    answer = asked(site, {"by": [["carrier"], []]})
    assert found[0] == ["carrier", "flights", "delay", "mean", "last"]
    # NULL, no text, the text NULL: all apart, and none of them is the total.
    assert [row[0] for row in found[1:]] == ["NULL", "empty", "B6", "NULL", "UA", "all"]
    assert [row[1] for row in found[1:]] == [f"{row['flights']:,}" for row in answer["rows"]]
    assert [row[2] for row in found[1:]] == [f"{row['delay']:,}" for row in answer["rows"]]
    text = page(site, "late?by=carrier")
    assert text.count('<span class="word cut"') == 2
    assert "&lt;b&gt;Zürich" not in found[1][4]


def test_late_records_apart_are_offered_where_a_cube_may_have_them(site: Site) -> None:
    assert 'name="late"' not in page(site, "late")
    text = page(site, "late?late=true")
    assert 'name="late" value="true" checked' in text
    assert "late records apart too." in page_text(text)
    assert '"late": true' in html.unescape(text)
    assert table_of(text) == table_of(page(site, "late"))


def test_columns_have_their_totals_too(site: Site) -> None:
    found = table_of(page(site, "late?by=origin&across=carrier&measure=delay&live=true"))
    by = [["origin", "carrier"], ["origin"], ["carrier"], []]
    rows = asked(site, {"by": by, "live": True})["rows"]
    sums = {tuple(row["group"].get(name, "*") for name in ("origin", "carrier")): row["delay"] for row in rows}
    origins, carriers = (None, "EWR", "JFK", "O'HARE"), (None, "", "B6", "NULL", "UA")
    assert found[0] == ["origin", "NULL", "empty", "B6", "NULL", "UA", "all"]
    shown = [[f"{sums[origin, carrier]:,}" for carrier in (*carriers, "*")] for origin in (*origins, "*")]
    assert [row[1:] for row in found[1:]] == shown


def test_one_slices_rolls_up_and_drills_down_by_links(site: Site) -> None:
    text = page(site, "late?by=origin")
    sliced = page(site, links_of(text)["O'HARE"])
    assert "origin = 'O\\'HARE'" in html.unescape(sliced)
    assert [row[0] for row in table_of(sliced)[1:]] == ["O'HARE", "all"]
    assert table_of(sliced)[1][1:] == table_of(sliced)[2][1:]
    down = page(site, links_of(sliced)["origin to dest"])
    answer = asked(site, {"by": ["dest"], "where": "origin = 'O\\'HARE'"})
    assert [row[:2] for row in table_of(down)[1:-1]] == [
        ["O'HARE", r["group"]["dest"][:197] + "..." * (len(r["group"]["dest"]) > 200)] for r in answer["rows"]
    ]
    finer = links_of(down)["SFO"]
    # The slice by both levels takes the place of the one by the coarser level.
    assert finer.count("where=") == 1
    assert [row[0] for row in table_of(page(site, finer))[1:]] == ["O'HARE", "all"]
    back = page(site, links_of(down)["dest to origin"])
    assert table_of(back) == table_of(sliced)
    rolled = page(site, links_of(back)["origin to all"])
    assert table_of(rolled)[1][0] == "all"
    without = page(site, links_of(rolled)["leave out"])
    assert table_of(without)[1][1] == f"{asked(site, {})['rows'][0]['flights']:,}"


def test_hundreds_of_groups_are_paged_in_any_order(site: Site) -> None:
    for order in ("", "&order=delay+DESC"):
        address, names, pages = f"tails?by=tail{order}", [], 0
        while address:
            text = page(site, address)
            rows = table_of(text)
            assert rows[-1][0] == "all"
            names += [row[0] for row in rows[1:-1]]
            pages += 1
            address = links_of(text).get("Next page", "")
        body = {"by": ["tail"], **({"order": ["delay DESC"]} if order else {})}
        assert names == [row["group"]["tail"] for row in asked(site, body, "tails")["rows"]]
        assert pages == -(-len(names) // 50) > 5
    wide = page(site, "tails?by=carrier&across=tail&measure=n")
    assert len(table_of(wide)[0]) == 1 + 12 + 1
    following = table_of(page(site, links_of(wide)["Next columns"]))
    assert following[0][1] > table_of(wide)[0][12]
    assert [row[-1] for row in following] == [row[-1] for row in table_of(wide)]


def test_a_chart_is_drawn_of_panes_and_a_page_says_what_is_open(site: Site) -> None:
    text = page(site, "late?by=carrier&measure=flights")
    label = re.search(r'aria-label="(flights, a point for each 1 h[^"]*)"', text)
    assert label is not None
    assert label[1].startswith("flights, a point for each 1 h, from 2026-06-01 00:00 to 2026-06-01 04:00: least ")
    (points,) = re.findall(r'<polyline class="line line-0" points="([^"]*)"', text)
    # Three hours have records; of the one between them the count is 0.
    places = [tuple(map(float, point.split(","))) for point in points.split()]
    assert (len(places), places[2][1]) == (4, max(y for _, y in places))
    # Where a measure has no value there is no point.
    assert len(re.findall("<polyline|<circle", page(site, "late?measure=delay"))) == 2
    assert "last is no number that can be drawn" in page_text(page(site, "late?measure=last"))
    assert "1 is open" in page_text(text)
    assert "open panes too" in page_text(page(site, links_of(text)["count them too"]))


def test_hours_of_the_zone_are_asked_for_and_kept_by_links(site: Site) -> None:
    text = page(site, "late?by=carrier&hours=3-4")
    assert 'name="hours" value="3-4"' in text
    assert "in the hours 3-4 of UTC alone" in page_text(text)
    rows = asked(site, {"by": [[]], "hours": "3-4"})["rows"]
    assert table_of(text)[-1][1] == f"{rows[0]['flights']:,}"
    assert "in the hours 3-4" in page_text(page(site, links_of(text)["count them too"]))


def test_a_page_accounts_for_records_and_says_what_it_waits_for(site: Site) -> None:
    text = page_text(page(site, "late"))
    kept = site.client.get("/v1/queries/late").json()["kept"]
    assert kept["accounting"] in text
    assert kept["accepted"] == kept["counted"] + kept["time"] + kept["future_timestamp"] + kept["too_large"] > 600
    assert kept["waiting_reason"] in text
    assert "the newest ts of each partition with records is 2026-06-01T05:00:10Z or later" in kept["waiting_reason"]
    # The last batch had what is no record, by which the test knows that it is over.
    assert (kept["partitions"][0]["progress"], kept["partitions"][0]["newest"][:14]) == ("untimed", "2026-06-01T04:")
    assert kept["coverage"][0]["topic_id"]
    assert "No gap" in text
    listed = site.client.get("/v1/queries", params={"operator": "cube"}).json()["queries"]
    assert [list(each["kept"]) for each in listed] == [["name", "cells", "bytes", "whole"]] * 3
    assert page_text(page(site, "/console/queries/late")).count(kept["accounting"]) == 1


def test_what_is_refused_leads_on_and_says_why(site: Site) -> None:
    for path, said in (
        ("late?where=delay+%3E+1", "'delay': is no dimension"),
        ("late?where=origin+%3D", "origin ="),
        ("late?by=tail", "by 'tail': is no dimension"),
        ("late?across=tail", "is no dimension"),
        ("late?measure=median", "measure 'median': is not declared"),
        ("late?from=2026-06-01T00:30:00Z", "is off the grain of 1h"),
        ("late?hours=25-26", "hours '25-26': give ranges of local hours"),
        ("late?order=nothing", "order 'nothing'"),
        ("late?cursor=x", "cursor 'x': is no cursor: follow the links of a page"),
    ):
        text = page(site, path, 400)
        assert said in page_text(text), path
        assert page(site, links_of(text)["The cube without all that"])
    page(site, "never", 404)
    site.register("plain", "delay > 3", site.topic("plain"))
    assert "is a query of another kind" in page_text(page(site, "plain", 404))


def test_a_list_has_all_cubes_and_metrics_count_them(site: Site) -> None:
    text = page(site, "/console/cubes")
    assert [row[0] for row in table_of(text.replace('<table class="list">', "<table>"))[1:]] == [
        "empty",
        "late",
        "tails",
    ]
    assert links_of(text)["Cubes"] == "/console/cubes"
    found = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in site.client.get("/metrics").text.splitlines()
        if line.startswith("asc_cube")
    }
    kept, stream = site.client.get("/v1/queries/late").json()["kept"], site.stream("json")
    assert found[f'asc_cube_cells{{query="late",stream="{stream}"}}'] == kept["cells"]
    assert found[f'asc_cube_bytes{{query="late",stream="{stream}"}}'] == kept["bytes"]
    assert found[f'asc_cube_records_total{{outcome="counted",query="late",stream="{stream}"}}'] == kept["counted"]
    before = found[f'asc_cube_query_seconds_count{{stream="{stream}"}}']
    page(site, "late")
    after = site.client.get("/metrics").text
    assert f'asc_cube_query_seconds_count{{stream="{stream}"}} {before + 1}' in after
    assert f'asc_cube_answer_cells_count{{stream="{stream}"}}' in after


def sections_of(text: str, name: str) -> str:
    """Return a section of a page by its label."""
    found = re.search(rf'<section aria-label="{name}">.*?</section>', text, re.DOTALL)
    assert found is not None, page_text(text)
    return found[0].replace('<table class="list">', "<table>")


def test_a_page_shows_the_stored_views_of_its_answer(site: Site) -> None:
    for path, body in (("late?by=carrier", {"by": ["carrier"]}), ("late?by=dest&live=true", {"live": True})):
        rows = table_of(sections_of(page(site, path), "Stored views of this answer"))
        wanted = [
            [", ".join(own["cuboid"]), "1h", f"{own['panes']:,}", f"{own['cells']:,}"]
            for own in asked(site, body)["answered_by"]
            if own["panes"]
        ]
        assert rows[1:] == wanted
        assert wanted


def test_what_a_cube_stores_is_drawn_and_is_a_table(site: Site) -> None:
    text = page(site, links_of(page(site, "late"))["All that the cube stores"])
    kept = site.client.get("/v1/queries/late").json()["kept"]
    views = table_of(sections_of(text, "Lattice"))[1:]
    assert len(views) == 6 * 8
    base = "origin, dest, carrier"
    assert views[0] == [base, "1h", "base", f"{kept['cells']:,}", f"{kept['panes']:,}", "-", "records"]
    assert {row[2] for row in views[1:]} == {"no"}
    assert {row[6] for row in views[1:]} == {"origin, dest, carrier at 1h"}
    asked_for = {(row[0], row[1]): row[5] for row in views if row[5] != "-"}
    assert float(asked_for["carrier", "4h"]) > 0
    ((levels, grain, role, times, *_),) = table_of(sections_of(text, "What is kept of the past"))[1:]
    assert (levels, grain, role) == ("origin, dest, carrier", "1h", "base")
    assert times == "2026-06-01 00:00:00 UTC to 2026-06-01 04:00:00 UTC"
    assert "The open pane is 2026-06-01 04:00:00 UTC to 2026-06-01 05:00:00 UTC" in page_text(text)
    assert "No gap" in text
    assert text.count("<figure") == 2


def posted(site: Site, path: str, status: int = 200, **form: str) -> str:
    """Send a form as a browser does from a page of the console."""
    headers = {"Origin": str(site.client.base_url).rstrip("/")}
    found = site.client.post(f"/console/cube/{path}", data={"": "", **form}, headers=headers, follow_redirects=True)
    assert found.status_code == status, found.text
    return str(found.text)


def proposal_of(text: str) -> dict[str, str]:
    """Return the hidden fields of the form that applies a proposal."""
    form = re.search(r'<form method="post" action="/console/cube/optimise/tails">(.*?)</form>', text, re.DOTALL)
    assert form is not None, page_text(text)
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[1]))


def test_a_proposal_is_shown_and_then_applied_as_it_was_shown(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "asc.audit")
    keeper = folder(site).keeper
    own = next(cube for cube in keeper.snapshot.cubes if cube.query == "tails")
    assert "No change" in page_text(posted(site, "propose/empty"))
    try:
        for _ in range(30):
            asked(site, {"by": ["carrier"], "to": "2026-06-01T04:00:00Z"}, "tails")
        stored = page(site, "/console/cube/stored/tails")
        assert '<form method="post" action="/console/cube/propose/tails">' in stored
        text = posted(site, "propose/tails")
        rows = table_of(sections_of(text, "Choice of views"))[1:]
        answer = site.client.post("/v1/queries/tails/cube/optimise", json={"dry_run": True}).json()
        assert [row[:3] for row in rows] == [
            [each["view"], "+ store", f"{each['cells']:,}"] for each in answer["changes"]
        ]
        assert int(rows[0][3].replace(",", "")) > 0
        assert keeper.snapshot.cube(own).views == ()
        # The form applies exactly the shown proposal.
        fields = proposal_of(text)
        text = posted(site, "optimise/tails", **fields)
        again = page_text(posted(site, "optimise/tails", 400, **fields))
        assert "is applied already, or other views were chosen since: nothing is left to change" in again
        assert "check them, and apply them" not in again
        assert {view.view for view in keeper.snapshot.cube(own).views} != set()
        assert len(re.findall("chosen", page_text(sections_of(text, "Lattice")))) >= len(rows)
        lines = [json.loads(each.getMessage()) for each in caplog.records if each.name == "asc.audit"]
        assert [(line["verb"], line["id"]) for line in lines] == [("optimise", "tails")] * 2
        assert [line.get("outcome") for line in lines] == [None, "refused"]
    finally:
        keeper.views.choose(own, [])


def test_a_proposal_that_has_changed_is_not_applied(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "asc.audit")
    keeper = folder(site).keeper
    own = next(cube for cube in keeper.snapshot.cubes if cube.query == "tails")
    try:
        for _ in range(30):
            asked(site, {"by": ["carrier"], "to": "2026-06-01T04:00:00Z"}, "tails")
        fields = proposal_of(posted(site, "propose/tails"))
        assert site.client.post("/v1/queries/tails/cube/optimise", json={}).json()["applied"]
        views = keeper.snapshot.cube(own).views
        text = page_text(posted(site, "optimise/tails", 400, **fields))
        assert "proposal of 'tails': is applied already, or other views were chosen since" in text
        assert "No change" in text
        keeper.views.choose(own, [])
        text = posted(site, "optimise/tails", 400)
        assert "proposal of 'tails': has other changes since this form was opened" in page_text(text)
        assert keeper.snapshot.cube(own).views == ()
        # The form has the changes as they are now.
        posted(site, "optimise/tails", **proposal_of(text))
        assert [own.view for own in keeper.snapshot.cube(own).views] == [own.view for own in views]
        lines = [json.loads(each.getMessage()) for each in caplog.records if each.name == "asc.audit"]
        assert [line.get("outcome") for line in lines] == [None, "refused", "refused", None]
    finally:
        keeper.views.choose(own, [])
    foreign = {"Origin": "http://elsewhere"}
    for path in ("propose", "optimise"):
        assert site.client.post(f"/console/cube/{path}/tails", data=fields, headers=foreign).status_code == 403
    posted(site, "propose/never", 404)


def test_pins_and_bands_are_shown_and_names_are_text(site: Site) -> None:
    operator = {
        **{**OPERATOR, "dimensions": [["origin", "concat(dest, '<i>')"], ["carrier"]]},
        **{"keep": ["1h:3h", "2h:2d carrier:0"], "materialise": [["carrier"]]},
    }
    site.register("kept", "true", site.topic("kept"), operator=operator)
    try:
        text = page(site, "/console/cube/stored/kept")
        assert "&lt;i&gt;" in text
        assert "<i>" not in text
        (shard,) = table_of(sections_of(text, "Shards"))[1:]
        assert shard[:3] == ["all", "0", "0"]
        # The daemon fills views beside the test, so that they may be complete already.
        rows = [row for row in table_of(sections_of(text, "Lattice"))[1:] if row[2] != "no"]
        roles = {(row[0], row[1]): row[2].removesuffix(", not complete") for row in rows}
        name = "origin, concat(dest, '<i>')"
        assert roles == {
            (f"{name}, carrier", "1h"): "base",
            (name, "2h"): "band",
            ("carrier", "1h"): "pinned",
        }
    finally:
        assert site.client.delete("/v1/queries/kept").status_code == 200
    page(site, "/console/cube/stored/kept", 404)
    assert site.client.get("/console/cube/stored/", follow_redirects=False).status_code == 303


def test_a_page_without_parameters_asks_for_a_level_that_older_panes_have_too(site: Site) -> None:
    operator = {**OPERATOR, "keep": ["1h:1h", "2h:2d origin:0"], "from": "earliest"}
    site.register("aged", "true", site.topic("aged"), operator=operator)
    try:
        keeper = folder(site).keeper
        awaited(lambda: any(band.panes.count for band in bands_of(keeper, "aged")))
        assert table_of(page(site, "aged"))[0][0] == "carrier"
        refused = page(site, "aged?by=origin", 400)
        assert "is not kept before" in page_text(refused)
        assert table_of(page(site, links_of(refused)["The cube without all that"]))[0][0] == "carrier"
    finally:
        assert site.client.delete("/v1/queries/aged").status_code == 200


def test_attributes_of_look_ups_may_be_rows_and_columns(site: Site) -> None:
    content = b"carrier,name,kind\nB6,JetBlue,low\nUA,United,full\n"
    headers = {"content-type": "text/csv"}
    path = "/v1/cube/lookups/lines"
    assert site.client.put(path, content=content, headers=headers, params={"key": "carrier"}).status_code == 200
    try:
        text = page(site, "/console/cubes")
        assert "name, kind" in page_text(text)
        found = table_of(page(site, "late?by=lines.name"))
        assert [row[0] for row in found] == ["lines.name", "NULL", "JetBlue", "United", "all"]
        text = page(site, "late?by=lines.name&across=lines.kind&measure=flights")
        assert '<option value="lines.name" selected>' in text
        assert '<option value="lines.kind" selected>' in text
        assert [row[0] for row in table_of(text)][1:] == ["NULL", "JetBlue", "United", "all"]
        links = links_of(page(site, "late?by=lines.name"))
        assert [row[0] for row in table_of(page(site, links["JetBlue"]))] == ["lines.name", "JetBlue", "all"]
        assert "lines.name to all" in links
    finally:
        assert site.client.delete(path).status_code == 200
    assert "no look-up is named 'lines'" in page_text(page(site, "late?by=lines.name", 400))


def test_a_cube_without_records_says_so(site: Site) -> None:
    text = page_text(page(site, "empty?by=tail"))
    assert "No group here" in text
    assert "0 accepted = 0 counted" in text
    site.register("young", "true", site.topic("young"), operator=OPERATOR)
    text = page_text(page(site, "young"))
    assert "No group here" in text
    assert "before its first batch" in text
    assert site.client.delete("/v1/queries/young").status_code == 200


def test_who_may_not_read_its_columns_sees_no_value(site: Site) -> None:
    columns = frozenset((name,) for name in ("delay", "ts", "carrier"))
    scopes = {digest("few"): Scope("few", columns=columns), digest("own"): Scope("own", id_prefix="tails")}
    scopes[digest("reader")] = Scope("reader", read_only=True)
    assert site.daemon is not None
    app = create_app(site.daemon, Access("all", scopes), ApiConfig(requests_per_s=1e6), Audit())
    with TestClient(app) as running:

        def client_of(token: str) -> TestClient:
            own = {"Origin": OWN}
            client = TestClient(app, base_url=OWN, headers=own, follow_redirects=False)
            client.portal = running.portal
            assert client.post("/console/login", data={"token": token, "next": ""}).status_code == 303
            return client

        def seen(token: str, path: str) -> tuple[int, str]:
            found = client_of(token).get(path)
            return found.status_code, page_text(found.text)

        status, text = seen("few", "/console/cubes/late")
        assert status == 403
        assert "token 'few' may name" in text
        assert not any(value in text for value in ("JFK", "UA", "accepted =", "2026-06-01"))
        status, text = seen("few", "/console/cube/stored/late")
        assert status == 403
        assert not any(value in text for value in ("JFK", " cells", "2026-06-01"))
        # It sees that there is a cube, as it sees other queries, and not a time of its records.
        status, text = seen("few", "/console/queries/late")
        assert status == 200
        assert "accepted =" not in text
        assert "cells" in text
        # A reader sees a proposal, and cannot apply it.
        reader = client_of("reader")
        found = reader.post("/console/cube/propose/tails", data={"": ""})
        assert found.status_code == 200
        assert "Nothing is changed yet" in found.text
        assert "/console/cube/optimise" not in found.text
        answers = [reader.post("/console/cube/optimise/tails", data={"proposal": ""})]
        answers += [
            client_of("few").post(f"/console/cube/{path}/late", data={"": ""}) for path in ("propose", "optimise")
        ]
        assert [own.status_code for own in answers] == [403] * 3
        # Another one's cube is none to it.
        assert seen("own", "/console/cubes/late")[0] in {403, 404}
        assert "late" not in seen("own", "/console/cubes")[1]
        assert seen("own", "/console/cubes/tails")[0] == 200


def test_a_parked_cube_says_why_and_shows_what_it_has(site: Site) -> None:
    cubes = folder(site).keeper
    own = next(cube for cube in cubes.snapshot.cubes if cube.query == "late")
    closed = cubes.snapshot.cubes[own].panes.closed
    cubes.park_damaged(own, closed[max(closed)][0].number)
    text = page(site, "late?by=carrier")
    assert "Parked. a piece of the pane of 2026-06-01T03:00:00Z is damaged" in page_text(text)
    assert "Records may be missing" in page_text(text)
    assert table_of(text)[-1][0] == "all"
    assert 'class="missing"' in text


def test_the_command_line_shows_what_is_kept(site: Site) -> None:
    assert site.daemon is not None
    done = [
        CliRunner().invoke(main, ["query", *words, "--server", site.daemon.url], catch_exceptions=False)
        for words in (["list", "--operator", "cube"], ["show", "late"], ["list"])
    ]
    listed, shown, plain = (each.stdout.splitlines() for each in done)
    kept = site.client.get("/v1/queries/late").json()["kept"]
    assert listed[0].split()[-5:-1] == ["cells", "bytes", "whole", "operator"]
    late = next(line for line in listed if line.startswith("late"))
    assert f"{kept['cells']:,}" in late
    assert f"{kept['bytes']:,}" in late
    assert "cells" not in plain[0]
    rows = dict(line.split(maxsplit=1) for line in shown if len(line.split()) > 1)
    assert rows["kept.accounting"] == kept["accounting"]
    assert rows["kept.generation"] == kept["generation"]
    assert kept["coverage"][0]["topic_id"] in rows["kept.coverage"]
    assert rows["kept.waiting_reason"] == kept["waiting_reason"]


@pytest.mark.parametrize(
    "parameters", ["columns=-1", "columns=x", "&".join(["where=true"] * (SLICES_MAX + 1)), "live=maybe"]
)
def test_a_parameter_that_is_none_is_refused(site: Site, parameters: str) -> None:
    assert "Refused" in page_text(page(site, f"late?{parameters}", 400))


def test_a_file_that_cannot_be_read_is_told_and_hides_nothing_else(site: Site) -> None:
    path = folder(site).keeper._store.path
    folder(site).close()
    aside = path.rename(path.with_suffix(".aside"))
    path.write_bytes(b"no file of cubes" * 1_000)
    try:
        found = site.client.get("/console/cubes/late")
        assert found.status_code >= 400
        assert "cubes.sqlite" in page_text(found.text)
        assert "No batch was committed" not in page_text(found.text)
        rows = site.client.get("/v1/queries?operator=cube").json()["queries"]
        assert {row["kept"] for row in rows} == {None}
        assert page(site, "/console/cubes")
        assert "cubes.sqlite" in page_text(site.client.get("/console/cube/stored/late").text)
    finally:
        aside.replace(path)
    assert table_of(page(site, "late?by=carrier"))[-1][0] == "all"
