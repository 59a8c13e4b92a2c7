"""Bars that show how far the daemon is with a large file of queries, and a walk over those that stand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from cli.client import ServerError
from cli.failure import CommandError

if TYPE_CHECKING:
    from tqdm import tqdm

    from cli.client import Client, Json

_LEAST = 5_000
"""Queries for which one waits long enough to look."""

_EACH_S = 0.5

_NEXT = {
    None: "reading",
    "read": "validating",
    "validated": "compiling",
    "compiled": "writing",
    "written": "putting in place",
}
"""What is done, to what comes next."""


@contextmanager
def load_bar(client: Client, queries: int) -> Iterator[None]:
    """While a file of so many queries is sent and registered, ask the daemon how far it is, and draw it where somebody
    looks.
    """
    if queries < _LEAST:
        yield
        return
    from tqdm import tqdm

    over = threading.Event()
    with tqdm(total=queries, unit=" queries", desc="sending", disable=None, leave=False) as bar:
        if not bar.disable:
            threading.Thread(target=follow, args=(client, bar, over), name="asc-load-bar", daemon=True).start()
        try:
            yield
        finally:
            # Not waited for: whoever interrupts a load does so because the daemon does not answer.
            over.set()


@contextmanager
def walk_bar(client: Client) -> Iterator[tqdm[NoReturn]]:
    """A bar for a walk over the registered queries, drawn where they are many and somebody looks."""
    from tqdm import tqdm

    queries = sum(int(stream.get("queries", 0)) for stream in client.streams()["streams"])
    is_off = True if queries < _LEAST else None

    with tqdm(total=queries, unit=" queries", desc="comparing", disable=is_off, leave=False) as bar:
        yield bar


def follow(client: Client, bar: tqdm[None], over: threading.Event) -> None:
    """Draw what the daemon says until the load is over, or it says that it cannot."""
    while not over.wait(_EACH_S):
        try:
            under_way = client.loads()
        except ServerError:
            # An older one. What is wrong with the load, the load itself will say.
            bar.set_description("registering")
            return
        except CommandError:
            continue
        if under_way and not over.is_set():
            # It is the largest, but where another one comes in at the same time.
            _show(bar, max(under_way, key=lambda load: int(load["queries"])))


def _show(bar: tqdm[None], load: Json) -> None:
    bar.total = load["queries"]
    bar.set_description(_NEXT.get(load["last_step"], load["last_step"]), refresh=False)
    bar.n = load["read"] if load["last_step"] is None else load["queries"]
    bar.refresh()
