"""``watch``: in place on a terminal, whatever becomes of its size; line by line elsewhere; and Ctrl-C is no failure."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cli.live_view import screen

PROGRAM = """
import sys
from cli.live_view import watch

looks = iter(range(1_000))
watch(lambda width: [f"look {next(looks)} of width {width}", "x" * 200, "last"], 0.05, in_place=len(sys.argv) == 1)
"""
PATIENCE_S = 120.0


def sized(terminal: int, lines: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))


@contextmanager
def watching(output: int, *arguments: str, term: str = "xterm") -> Iterator[subprocess.Popen[bytes]]:
    """The program, its output in a place; COLUMNS says what is not so."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": term, "COLUMNS": "33"}
    with subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(number: int, text: str) -> str:
    shown, deadline = "", time.monotonic() + PATIENCE_S
    while text not in shown:
        if select.select([number], [], [], 0.1)[0]:
            shown += os.read(number, 65_536).decode()
        assert time.monotonic() < deadline, shown[-500:]
    return shown


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    return process.returncode, errors


def test_a_screen_follows_the_terminal_s_size_and_ends_quietly() -> None:
    own, terminal = os.openpty()
    sized(terminal, 10, 40)
    try:
        with watching(terminal) as process:
            shown = read_until(own, "look 3 of width 40")
            # What was there is scrolled away once, then each look is drawn over the one before.
            assert shown.startswith("\r\n" * 10 + "\x1b[Hlook 0 of width 40\x1b[K\r\n" + "x" * 39 + "…\x1b[K\r\nlast")
            assert shown.count("\r\n" * 10) == 1
            sized(terminal, 3, 20)
            shown = read_until(own, "of width 20")
            shown += read_until(own, "of width 20")
            assert ("x" * 19 + "…") in shown
            # Of three lines the last one is left free.
            assert "last" not in shown.rpartition("\x1b[H")[2]
            assert interrupted(process) == (0, b"")
    finally:
        os.close(terminal)
        os.close(own)


@pytest.mark.parametrize("place", ["pipe", "dumb", "lines"])
def test_elsewhere_it_prints_whole_lines(place: str) -> None:
    own, other = os.pipe() if place == "pipe" else os.openpty()
    try:
        arguments = ["lines"] if place == "lines" else []
        with watching(other, *arguments, term="dumb" if place == "dumb" else "xterm") as process:
            shown = read_until(own, "look 2").replace("\r", "")
            each = f"of width None\n{'x' * 200}\nlast\n"
            assert shown.startswith(f"look 0 {each}look 1 {each}look 2")
            assert interrupted(process) == (0, b"")
    finally:
        os.close(other)
        os.close(own)


def test_what_is_higher_than_the_terminal_is_left_out() -> None:
    drawn = screen(list("abcdef"), os.terminal_size((80, 4)))
    assert drawn.replace("\x1b[K", "") == "\x1b[Ha\nb\nc\n\x1b[J"
