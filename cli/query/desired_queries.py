"""The queries in one file or in all files of a folder, and the selection of the registered queries that the files
manage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from broker.errors import InputError
from broker.files.bounded_file import read_whole
from broker.files.queries_file import bodies, check_no_removal, form_of, no_queries
from broker.whole_file import QUERIES_BYTES_MAX

Json = dict[str, Any]

SUFFIXES = (".toml", ".json", ".ndjson", ".jsonl")


class FaultyFilesError(InputError):
    """Files with several faults. ``faults``: all faults, each an error of one line."""

    def __init__(self, faults: Sequence[InputError]) -> None:
        super().__init__("files of queries", f"{len(faults)} faults", "mend them")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Selector:
    """The registered queries that files manage. A managed query that is in no file is to be removed.

    A query is managed if its id begins with ``prefix`` and, in case ``label`` is set, the query has the label. If
    neither is set, all queries are managed.
    """

    prefix: str = ""
    label: tuple[str, str] | None = None

    def takes(self, query: Mapping[str, Any]) -> bool:
        """Return whether a query, from a file or from the daemon, is managed.

        >>> Selector(label=("team", "ops")).takes({"id": "late", "labels": {"team": "ops"}})
        True
        """
        labels = query.get("labels")
        has_label = self.label is None or (isinstance(labels, dict) and labels.get(self.label[0]) == self.label[1])
        return has_label and str(query.get("id", "")).startswith(self.prefix)

    def __str__(self) -> str:
        prefix = [f"--prefix {self.prefix}"] if self.prefix else []
        return " ".join([*prefix, *([f"--label {'='.join(self.label)}"] if self.label else [])]) or "--all"


@dataclass(frozen=True, slots=True)
class DesiredQueries:
    """The queries of files. ``lines``: the line of each query, as the daemon reads it. ``places``: the location of each
    line in the files. ``line_of``: the index of a query's line in ``lines``, by the query's id.

    Invariant: ids are unique, and there is at least one line. A line whose id cannot be read is left for the daemon to
    refuse. Cost: the text of the queries once, and some 250 bytes per query.
    """

    lines: list[bytes]
    places: list[str]
    line_of: dict[str, int]

    def body(self, query_id: str) -> Json:
        """Return the body of one query in a file."""
        body: Json = json.loads(self.lines[self.line_of[query_id]])
        return body

    def place(self, query_id: str) -> str:
        """Return the location of a query in the files."""
        return self.places[self.line_of[query_id]]

    def prefix(self) -> str:
        """Return the longest prefix that all ids have in common."""
        # The first and the last of the sorted texts have the shortest common prefix of any two.
        first, last = min(self.line_of, default=""), max(self.line_of, default="")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
        return first[:same]


def query_files(folder: Path) -> list[tuple[str, bytes]]:
    """Return the name and the content of each file of queries in a folder and its subfolders, ordered by path. Names
    are relative to the folder. Raise InputError if there is no such file, or the files are too large.
    """
    paths: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in names if not name.startswith(".") and name.lower().endswith(SUFFIXES)]
    if not paths:
        raise InputError("no file of queries in folder", str(folder), f"it has none that ends in {', '.join(SUFFIXES)}")
    read: list[tuple[str, bytes]] = []
    size_bytes = 0
    for path in sorted(paths):
        content = read_whole(path, QUERIES_BYTES_MAX)
        size_bytes += len(content)
        if size_bytes > QUERIES_BYTES_MAX:
            remedy = f"have more than {QUERIES_BYTES_MAX >> 20} MiB together: apply its folders one by one"
            raise InputError("files of queries in folder", str(folder), remedy)
        read.append((path.relative_to(folder).as_posix(), content))
    return read


def desired_queries(
    files: Iterable[tuple[str, bytes]], *, form: str | None = None, selector: Selector | None = None
) -> DesiredQueries:
    """Return the queries of files. A file is a pair of its name and its content. ``form``: the form of all files; if it
    is None, each file's name and content decide.

    Raise InputError for one fault, and FaultyFilesError for several. A file that cannot be read or contains no query is
    a fault. An id that occurs twice is a fault, reported with both locations. Further faults are a line that removes a
    query, and a query that the ``selector`` does not select.
    """
    wanted = DesiredQueries([], [], {})
    faults: list[InputError] = []
    for name, content in files:
        before = len(wanted.lines)
        try:
            for fault in _added(wanted, name, bodies(content, form or form_of(name, content), name), selector):
                faults.append(fault)
            if len(wanted.lines) == before:
                raise no_queries(name)
        except InputError as error:
            faults.append(error)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise FaultyFilesError(faults)
    return wanted


def _added(
    wanted: DesiredQueries, name: str, found: Iterable[tuple[str, Json]], selector: Selector | None
) -> Iterator[InputError]:
    """Add the queries of one file to ``wanted``. Yield the faults of the file."""
    for place, body in found:
        query_id = body.get("id")
        where = f"{name} {place}"
        try:
            check_no_removal(body, where)
        except InputError as fault:
            yield fault
        if isinstance(query_id, str):
            number = wanted.line_of.setdefault(query_id, len(wanted.lines))
            if number < len(wanted.lines):
                remedy = f"is in {wanted.places[number]} and in {where}: keep one of them"
                yield InputError("query id", query_id, remedy)
            if selector is not None and not selector.takes(body):
                remedy = f"is in {where}, and {selector} does not manage it: change the query or the selector"
                yield InputError("query", query_id, remedy)
        # Convert times of TOML to text, because they are not JSON values.
        wanted.lines.append(json.dumps(body, default=str).encode())
        wanted.places.append(where)
