"""Lines of the log: one an entry, whatever is in it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from broker.daemon.log import JsonLines, TextLines, stream_of


def entry(message: Any, *values: Any, error: BaseException | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("asc.job", logging.WARNING, __file__, 1, message, values, exc_info)
    record.created = 1_000.25
    return record


@dataclass
class Event:
    stream: str

    def __str__(self) -> str:
        return f"stream '{self.stream}' was rearranged"


@pytest.mark.parametrize(
    ("message", "values", "stream"),
    [
        ("stream '%s': batch %d", ("s", 3), "s"),
        ("stream '%s' %s", ("s", "is starting"), "s"),
        ("%s", (Event("s"),), "s"),
        ("%s ...", ("reading the registry",), None),
        ("query '%s' has expired", ("q",), None),
        ("stopped", (), None),
        ("stream '%s'", (7,), None),
    ],
    ids=["batch", "problem", "event", "text", "query", "plain", "number"],
)
def test_the_stream_of_an_entry_is_told_where_it_is_known(
    message: str, values: tuple[Any, ...], stream: str | None
) -> None:
    record = entry(message, *values)
    assert stream_of(record) == stream
    assert json.loads(JsonLines().format(record)).get("stream") == stream


def test_an_entry_is_one_json_object_in_one_line() -> None:
    line = JsonLines().format(entry("stream '%s': said\n\x1b[2J\x9b\u2028é", 's"\n'))
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == {
        "time": "1970-01-01T00:16:40.250Z",
        "level": "WARNING",
        "logger": "asc.job",
        "message": "stream 's\"\n': said\n\x1b[2J\x9b\u2028é",
        "stream": 's"\n',
    }


@pytest.mark.parametrize("form", [JsonLines, TextLines])
def test_what_an_error_was_raised_by_is_there(form: type[logging.Formatter]) -> None:
    try:
        raise ValueError("no\nroom")
    except ValueError as error:
        text = form().format(entry("failed", error=error))
    if form is JsonLines:
        assert text.isprintable()
        text = json.loads(text)["error"]
    assert text.count("\n") >= 3
    assert "ValueError: no\nroom" in text


def test_control_characters_of_a_text_are_escaped() -> None:
    text = TextLines().format(entry("said %s", "a\n2026 INFO asc: forged\x1b[2J\t\u2028é"))
    assert text.endswith("WARNING asc.job: said a\\n2026 INFO asc: forged\\x1b[2J\t\\u2028é")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_process_logs_in_the_form_that_is_asked_for(form: str) -> None:
    program = f"""
import logging, warnings
from broker.daemon.log import begin_log
begin_log({form!r})
logging.getLogger("asc.x").info("stream '%s': begins", "s")
logging.getLogger("asc.x").debug("nobody asks")
logging.getLogger("py4j").error("of the JVM")
warnings.warn("deprecated")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60, text=True)
    lines = done.stderr.splitlines()
    assert done.stdout == ""
    if form == "json":
        entries = [json.loads(line) for line in lines]
        assert [each["logger"] for each in entries] == ["asc.x", "py.warnings"]
        assert (entries[0]["message"], entries[0]["stream"]) == ("stream 's': begins", "s")
    else:
        assert lines[0].endswith("INFO asc.x: stream 's': begins")
        assert "nobody asks" not in done.stderr
