"""Pictures of pages, light and dark."""

from __future__ import annotations

import shutil
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.release.errors import ReleaseError
from tools.release.screenshots import IMAGES, ROOT, SCHEMES, shoot

PAGE = b"""<!doctype html><html lang="en"><title>x</title>
<style>body{background:white}@media (prefers-color-scheme:dark){body{background:black}}</style><body>text"""


@pytest.fixture
def url() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.nightly
def test_each_page_is_taken_in_each_scheme(url: str, tmp_path: Path) -> None:
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("Chromium is missing: install the system's package, as apt-get install chromium")
    shoot(url, {"overview": "/console/", "plan": "/console/plan"}, tmp_path / "new")
    taken = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert set(taken) == {f"console-{name}-{scheme}.png" for name in ("overview", "plan") for scheme in SCHEMES}
    for content in taken.values():
        assert struct.unpack(">II", content[16:24]) == (1280, 860)
    assert taken["console-plan-light.png"] != taken["console-plan-dark.png"]


def test_without_a_chromium_it_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReleaseError, match=r"Chromium.*apt-get install chromium"):
        shoot("http://127.0.0.1:1", {}, tmp_path)


def test_every_picture_of_the_documentation_is_shown_by_a_page() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
    shown = "".join(page.read_text("utf-8") for page in pages)
    assert [picture.name for picture in IMAGES.iterdir() if f"images/{picture.name}" not in shown] == []
