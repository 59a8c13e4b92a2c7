"""The hook of mkdocs that makes links out of ``docs/`` work on the site as they do on a code host.

If a page links to a file outside of ``docs/``, the file is added to the site below ``repository/``. Markdown becomes a
page, and pictures stay unchanged. Other texts become a page that shows them, and folders a page that lists their files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import File, Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
BESIDE = "repository"
_HOME = "README.md"
_PICTURES = (".png", ".svg")
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add to the site the files outside of ``docs/`` to which pages link."""
    from mkdocs.structure.files import File

    pages = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    outside = dict.fromkeys([_HOME, "ARCHITECTURE.md", "CHANGELOG.md"])
    waiting = [*pages, *outside]
    while waiting:
        page = waiting.pop()
        for target in linked(page, (ROOT / page).read_text(encoding="utf-8")):
            if target not in outside and not target.startswith("docs/") and (ROOT / target).exists():
                outside[target] = None
                waiting += [target] if target.endswith(".md") else []
    for target in outside:
        files.append(_added(File, config, target))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change the links of a page so that they lead to the site's copies of their targets."""
    return with_links(markdown, page.file.src_uri)


def linked(page: str, markdown: str) -> Iterator[str]:
    """Yield the targets of a page's links, as paths within the repository."""
    for match in _LINK.finditer(_FENCE.sub("", markdown)):
        yield _target(page, match[2])


def with_links(markdown: str, uri: str) -> str:
    """Return a page with its links changed to be relative to its location on the site.

    >>> with_links("[rules](../deploy/prometheus/alerts.yml), [all](cli.md#asc)", "metrics.md")
    '[rules](repository/deploy/prometheus/alerts.yml.md), [all](cli.md#asc)'
    """
    own = _place_in_repository(uri)

    def moved(match: re.Match[str]) -> str:
        to = posixpath.relpath(place_on_site(_target(own, match[2])), posixpath.dirname(uri) or ".")
        return f"{match[1]}{to}{match[3] or ''}"

    parts = _FENCE.split(markdown)
    return "".join(part if number % 2 else _LINK.sub(moved, part) for number, part in enumerate(parts))


def place_on_site(path: str) -> str:
    """Return the location of a file or folder of the repository on the site.

    >>> place_on_site("docs/cli.md"), place_on_site("README.md"), place_on_site("deploy")
    ('cli.md', 'index.md', 'repository/deploy.md')
    """
    if path == _HOME:
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    is_as_it_is = path.endswith((".md", *_PICTURES))
    return f"{BESIDE}/{path}" if is_as_it_is else f"{BESIDE}/{path}.md"


def _place_in_repository(uri: str) -> str:
    if uri == "index.md":
        return _HOME
    return uri.removeprefix(f"{BESIDE}/") if uri.startswith(f"{BESIDE}/") else f"docs/{uri}"


def _target(page: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def _added(kind: type[File], config: MkDocsConfig, path: str) -> File:
    source, uri = ROOT / path, place_on_site(path)
    if path.endswith((".md", *_PICTURES)):
        return kind.generated(config, uri, abs_src_path=str(source))
    if source.is_dir():
        names = sorted(str(own.relative_to(source)) for own in source.rglob("*") if own.is_file())
        listed = "\n".join(f"- `{name}`" for name in names)
        return kind.generated(config, uri, content=f"# {path}\n\nA folder of the checkout:\n\n{listed}\n")
    text = source.read_text(encoding="utf-8")
    return kind.generated(config, uri, content=f"# {path}\n\n````{source.suffix[1:]}\n{text}\n````\n")
