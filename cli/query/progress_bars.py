"""Progress bars for the load of a large file of queries, and for reading all registered queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

    from broker.answers.query import Load
    from broker.client.client import Client

_LEAST = 5_000
"""The least number of queries for which a bar is drawn, because users then wait noticeably."""

_NEXT = {
    None: "reading",
    "read": "validating",
    "validated": "compiling",
    "compiled": "writing",
    "written": "putting in place",
}
"""The label of the step of a load that is in progress, by the last step that is done."""


@contextmanager
def load_bar(queries: int) -> Iterator[Callable[[Load], None] | None]:
    """Draw a bar while a file with ``queries`` queries is sent. Yield the function that shows progress. Yield None if
    there are few queries, or the output is not a terminal.
    """
    if queries < _LEAST:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=queries, unit=" queries", desc="sending", disable=None, leave=False) as bar:
        yield None if bar.disable else lambda load: show(bar, load)


@contextmanager
def walk_bar(client: Client) -> Iterator[tqdm[NoReturn]]:
    """Draw a bar while all registered queries are read, if they are many and the output is a terminal."""
    from tqdm import tqdm

    queries = sum(stream["queries"] for stream in client.streams()["streams"])
    is_off = True if queries < _LEAST else None

    with tqdm(total=queries, unit=" queries", desc="comparing", disable=is_off, leave=False) as bar:
        yield bar


def show(bar: tqdm[NoReturn], load: Load) -> None:
    """Show the progress of a load in a bar. ``load``: the progress as the daemon reports it."""
    bar.total = load["queries"]
    bar.set_description(_NEXT.get(load["last_step"], load["last_step"]), refresh=False)
    bar.n = load["read"] if load["last_step"] is None else load["queries"]
    bar.refresh()
