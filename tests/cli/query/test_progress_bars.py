"""The bar of a large load, as somebody sees it who looks at a terminal."""

from __future__ import annotations

import fcntl
import io
import json
import os
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tqdm import tqdm

from broker.answers.query import Load
from broker.client.errors import NoAnswerError, RefusedError
from broker.client.progress import follow
from broker.queries.load_progress import STEPS, RunningLoads
from cli.client import connected
from cli.query.progress_bars import load_bar, show, walk_bar

if TYPE_CHECKING:
    from conftest import Address, Asc

QUERIES = 6_000


class Scripted:
    """A daemon's answers, one after the other; after the last one the load is over."""

    def __init__(self, answers: list[Any], over: threading.Event) -> None:
        self._answers, self._over = iter(answers), over

    def loads(self) -> list[Load]:
        answer = next(self._answers, None)
        if answer is None:
            self._over.set()
            return []
        if isinstance(answer, Exception):
            raise answer
        found: list[Load] = answer
        return found


def drawn(answers: list[Any]) -> Iterator[str]:
    """What the bar shows, one state after the other."""
    shown, over = io.StringIO(), threading.Event()
    with tqdm(total=QUERIES, desc="sending", file=shown, mininterval=0, leave=False, ncols=80) as bar:
        scripted = Scripted(answers, over)
        follow(scripted.loads, lambda load: show(bar, load), over, 0.001)
    return (state.strip() for state in shown.getvalue().split("\r") if state.strip())


def test_each_step_is_shown_as_the_daemon_tells_it() -> None:
    loads = RunningLoads()
    with loads.started(QUERIES) as load, loads.started(3):
        load.read = 1_500
        answers = [loads.shown()]
        for step in STEPS:
            load.note_done(step)
            answers.append(loads.shown())
    states = list(drawn(answers))
    assert states[1].startswith("reading:  25%")
    words = [state.split(":")[0] for state in states]
    assert words == ["sending", "reading", "validating", "compiling", "writing", "putting in place"]


def test_a_daemon_that_is_slow_is_asked_again_and_one_that_does_not_know_is_not() -> None:
    own = [{"queries": QUERIES, "read": 9, "last_step": None}]
    silent, unknown = (
        NoAnswerError("daemon", "", "does not answer"),
        RefusedError("path", "", "is not known", status=404),
    )
    words = [state.split(":")[0] for state in drawn([silent, [], own, unknown, [{**own[0], "last_step": "validated"}]])]
    assert words == ["sending", "reading"]


def test_a_small_file_has_no_bar() -> None:
    with load_bar(4_999) as progress:
        assert progress is None


class Shown(io.StringIO):
    """A terminal that keeps what is drawn."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("queries", "is_drawn"), [(4_999, False), (QUERIES, True)], ids=["few", "many"])
def test_a_walk_over_many_queries_has_a_bar(
    monkeypatch: pytest.MonkeyPatch, address: Address, queries: int, is_drawn: bool
) -> None:
    address.answers["/v1/streams"] = [(200, json.dumps({"streams": [{"queries": queries - 9}, {"queries": 9}]}))]
    shown = Shown()
    monkeypatch.setattr(sys, "stderr", shown)
    with connected(address.url, None, None) as client, walk_bar(client) as bar:
        bar.update(3_000)
        bar.refresh()
    assert ("comparing:  50%" in shown.getvalue()) is is_drawn
    assert bool(shown.getvalue()) is is_drawn


@pytest.mark.kafka
@pytest.mark.spark
def test_on_a_terminal_a_large_load_has_a_bar_and_elsewhere_nothing(asc: Asc, tmp_path: Path) -> None:
    file = tmp_path / "many.ndjson"
    one = {"stream": "flights", "topic": "many", "paused": True}
    lines = [{"id": f"bar-{i}", "where": f"delay = {i}", **one} for i in range(QUERIES)]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    program = "from cli.main import main; main()"
    command = [sys.executable, "-c", program, "query", "apply", str(file), "--server", asc.server]
    own, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with (
        os.fdopen(own, "rb", buffering=0) as shown,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True) as applied,
    ):
        os.close(terminal)
        written = b""
        # To read from a terminal that its last process has left is an error.
        while applied.poll() is None or written == b"":
            try:
                written += shown.read(4_096)
            except OSError:
                break
        answer = applied.communicate()[0]
    assert (applied.returncode, answer[:16]) == (0, "6,000 registered")
    assert "sending" in written.decode()
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (elsewhere.stdout[:15], elsewhere.stderr) == ("6,000 unchanged", "")
