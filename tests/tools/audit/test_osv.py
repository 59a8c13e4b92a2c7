"""Records as the databases of OSV have them (``osv/``, without their details and references), and a server of them.

The server answers as api.osv.dev does, over HTTP.
"""

from __future__ import annotations

import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tools.audit.component import Component
from tools.audit.errors import NoDataError
from tools.audit.osv import Found, Vulnerability, ask, key, look_up

RECORDS = Path(__file__).with_name("osv")
LOG4J = "org.apache.logging.log4j:log4j-core"
JACKSON = "org.codehaus.jackson:jackson-mapper-asl"


def jar(name: str, version: str) -> Component:
    return Component("Maven", name, version, "")


def package(name: str, version: str) -> Component:
    return Component("PyPI", name, version, "")


def names(found: Found, component: Component) -> list[str]:
    return [one.names[0] for one in found.get(key(component), ())]


@pytest.mark.parametrize(
    ("component", "known"),
    [
        (jar(LOG4J, "2.14.1"), ["GHSA-jfh8-c2jp-5v3q"]),
        (jar(LOG4J, "2.13.0"), ["GHSA-jfh8-c2jp-5v3q"]),
        (jar(LOG4J, "2.0-beta9"), ["GHSA-jfh8-c2jp-5v3q"]),
        (jar(LOG4J, "2.15.0"), []),
        (jar(LOG4J, "2.12.2"), []),
        (jar(LOG4J, "2.3.1"), []),
        (jar(LOG4J, "2.25.4"), []),
        (jar("org.apache.logging.log4j:log4j-api", "2.14.1"), []),
        (jar(JACKSON, "1.9.13"), ["GHSA-c27h-mcmw-48hv"]),
        (jar(JACKSON, "1.9.14"), []),
        (package("uvicorn", "0.11.6"), ["PYSEC-2020-150"]),
        (package("uvicorn", "0.11.7.dev1"), ["PYSEC-2020-150"]),
        (package("uvicorn", "0.11.7"), []),
        (package(LOG4J, "2.14.1"), []),
    ],
)
def test_downloaded_records(component: Component, known: list[str]) -> None:
    both = [component, jar("a:b", "1"), package("c", "1")]
    assert names(look_up(both, RECORDS), component) == known


def test_archives_are_read_as_the_files_in_them(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in RECORDS.iterdir():
            archive.write(path, path.name)
    component = jar(LOG4J, "2.14.1")
    assert look_up([component], tmp_path) == look_up([component], RECORDS)


def record(tmp_path: Path, **fields: Any) -> Path:
    affected = [{"package": {"ecosystem": "PyPI", "name": "Some_Name"}, "versions": ["1"]}]
    content = {"id": "A", "affected": affected, **fields}
    (tmp_path / f"{content['id']}.json").write_text(json.dumps(content))
    return tmp_path


def test_names_of_pypi_are_normalised(tmp_path: Path) -> None:
    component = package("some-name", "1")
    assert names(look_up([component], record(tmp_path)), component) == ["A"]


def test_a_withdrawn_record_says_nothing(tmp_path: Path) -> None:
    component = package("some-name", "1")
    assert names(look_up([component], record(tmp_path, withdrawn="2020-01-01T00:00:00Z")), component) == []


def test_databases_that_repeat_each_other(tmp_path: Path) -> None:
    record(tmp_path, id="B", aliases=["CVE-1"])
    component = package("some-name", "1")
    assert names(look_up([component], record(tmp_path, id="A", aliases=["CVE-1"])), component) == ["A"]


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"fixed": "2"}, {"introduced": "0"}], True),
        ([{"introduced": "1"}, {"fixed": "1"}], False),
        ([{"introduced": "0"}, {"fixed": "0.5"}, {"introduced": "0.9"}], True),
        ([{"introduced": "0"}, {"fixed": "0.5"}, {"introduced": "1.1"}], False),
        ([{"introduced": "0"}, {"fixed": "older than pep 440"}], True),
        ([{"introduced": "older than pep 440"}, {"fixed": "0.5"}], False),
        ([], False),
    ],
)
def test_ranges(tmp_path: Path, events: list[dict[str, str]], affected: bool) -> None:
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    record(tmp_path, affected=[{"package": {"ecosystem": "PyPI", "name": "a"}, "ranges": ranges}])
    component = package("a", "1")
    assert names(look_up([component], tmp_path), component) == (["A"] if affected else [])


def test_a_folder_that_lacks_an_ecosystem_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(NoDataError, match="has no record of Maven"):
        look_up([jar("a:b", "1"), package("a", "1")], record(tmp_path))
    with pytest.raises(NoDataError, match="has no record of PyPI"):
        look_up([package("a", "1")], tmp_path / "gone")


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "{"), ("a.json", "[]"), ("a.json", "{}"), ("a.zip", "no archive")]
)
def test_files_that_are_no_records(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(NoDataError):
        look_up([package("a", "1")], tmp_path)


def test_the_line_of_a_vulnerability() -> None:
    assert str(Vulnerability(("GHSA-1", "CVE-1"), "high, Bad")) == "CVE-1 (high, Bad)"
    assert str(Vulnerability(("GHSA-1",), "")) == "GHSA-1"


class Osv(ThreadingHTTPServer):
    """The records of a folder; a page of an answer has one id."""

    daemon_threads = True

    def __init__(self, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.status = status
        self.queries: list[dict[str, Any]] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Osv

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.queries += body["queries"]
        self.answer({"results": [self.known(query) for query in body["queries"]]})

    def do_GET(self) -> None:
        self.answer(json.loads((RECORDS / f"{self.path.rpartition('/')[2]}.json").read_text()))

    def known(self, query: dict[str, Any]) -> dict[str, Any]:
        if query["package"]["name"] != LOG4J or query["version"] != "2.14.1":
            return {}
        # Two pages, of which the second repeats the first.
        page: dict[str, Any] = {"vulns": [{"id": "GHSA-jfh8-c2jp-5v3q", "modified": "2022-03-25T20:56:18Z"}]}
        return page if "page_token" in query else {**page, "next_page_token": "more"}

    def answer(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def osv() -> Iterator[Osv]:
    server = Osv()
    yield server
    server.shutdown()
    server.server_close()


def test_osv_is_asked(osv: Osv) -> None:
    affected, other = jar(LOG4J, "2.14.1"), package("click", "8.0")
    library = Component("", "libx.so", "", "")
    found = ask([affected, other, library, affected], 10, osv.address)
    (one,) = found[key(affected)]
    assert one.names == ("GHSA-jfh8-c2jp-5v3q", "CVE-2021-44228")
    assert one.summary == "critical, Remote code injection in Log4j"
    assert names(found, other) == []
    asked = [(query["package"]["ecosystem"], query["package"]["name"], query["version"]) for query in osv.queries]
    assert asked == [key(affected), key(other), key(affected)]


def test_an_osv_that_refuses_is_no_data(osv: Osv) -> None:
    osv.status = 503
    with pytest.raises(NoDataError, match="cannot be asked"):
        ask([package("click", "8.0")], 10, osv.address)


def test_an_osv_that_is_not_there_is_no_data(osv: Osv) -> None:
    osv.shutdown()
    osv.server_close()
    with pytest.raises(NoDataError, match="cannot be asked"):
        ask([package("click", "8.0")], 10, osv.address)
