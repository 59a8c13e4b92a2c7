"""The documentation as a site: built strictly, whole, and without another host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tools.release.site_pages import ROOT, linked, place_on_site, with_links

LOADED = {("script", "src"), ("img", "src"), ("source", "srcset"), ("link", "href"), ("iframe", "src")}


class Links(HTMLParser):
    """What a page has: ids, links, and what a browser loads for it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            if (tag, name) in LOADED and value and ("rel", "canonical") not in attrs:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}


def test_every_page_is_there_and_in_the_navigation(site: Path, pages: dict[Path, Links]) -> None:
    named = {(site / unquote(urlsplit(link).path)).resolve() for link in pages[site / "index.html"].links}
    for page in (ROOT / "docs").rglob("*.md"):
        built = page.with_name("index.md") if page.name == "README.md" else page
        assert site / built.relative_to(ROOT / "docs").with_suffix(".html") in named, page.name


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    for page, own in pages.items():
        for link in [*own.links, *own.loaded]:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                assert parts.scheme in ("http", "https", "data"), f"{page}: {link}"
                assert parts.netloc or parts.scheme == "data", f"{page}: {link}"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), f"{page.relative_to(site)}: {link}"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].ids, f"{page.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[Path, Links]) -> None:
    for page, own in pages.items():
        assert own.loaded, page
        assert not [link for link in own.loaded if urlsplit(link).netloc], page
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_the_search_is_there_as_a_script(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = ")
    assert "delivery.html#dead-letters" in index


@pytest.mark.nightly
def test_the_search_finds_pages_that_were_opened_as_files(site: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("needs Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser).new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.locator(".md-search__input").press_sequentially("dead letter")
        page.locator(".md-search-result__link").first.wait_for()
        assert {urlsplit(url).scheme for url in asked} <= {"file", "data", "blob"}


def test_links_are_those_of_the_site() -> None:
    assert with_links("[a](../deploy) `[b](../c.md)`", "x.md") == "[a](repository/deploy.md) `[b](../c.md)`"
    assert with_links("[a](docs/cli.md#asc)", "index.md") == "[a](cli.md#asc)"
    assert with_links("[a](docs/cli.md)", "repository/CHANGELOG.md") == "[a](../cli.md)"
    assert with_links("[a](https://example.org/b.md)", "x.md") == "[a](https://example.org/b.md)"


def test_what_a_page_links_to() -> None:
    assert list(linked("docs/x.md", "[a](../deploy) [b](y.md#z)\n```sh\n[c](d)\n```\n")) == ["deploy", "docs/y.md"]
    assert place_on_site("bench/results/peers.png") == "repository/bench/results/peers.png"
