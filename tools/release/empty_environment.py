"""The test of a wheel in isolation: in a new environment with the locked packages, and in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from broker.packages import PACKAGES
from tools.release.errors import ReleaseError

_ROWS = "arr_delay,dest\n75,SFO\n,LAX\n5,ORD\n"
_QUERIES = '{"id": "late", "where": "arr_delay > 60"}\n{"id": "unknown", "where": "arr_delay IS NULL"}\n'
_LIBRARY = """
import asc
matcher = asc.Matcher("arr_delay INT, dest STRING")
matcher.add_many([("late", "arr_delay > 60"), ("west", "dest IN ('LAX', 'SFO')")])
import pyarrow
found = matcher.match(pyarrow.table({"arr_delay": [75, None, 5], "dest": ["SFO", "LAX", "ORD"]}))
assert found.to_pydict() == {"row": [0, 0, 1], "query": ["late", "west", "west"]}, found
print("as it should be")
"""


def check_installed(wheel: Path, lock: Path, folder: Path, version: str) -> None:
    """Install a wheel and the locked packages into a new environment in a folder. Then test the parts that need neither
    Java nor Kafka.

    Raises ReleaseError for the first fault. If pip's cache is empty, this downloads about 600 MB.
    """
    python = folder / "environment" / "bin" / "python"
    _run([sys.executable, "-m", "venv", folder / "environment"], folder)
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "-r", lock], folder)
    _run([*pip, "--no-deps", wheel], folder)
    try_installed(python, folder, version)


def try_installed(python: Path, folder: Path, version: str) -> None:
    """Test the commands and the library of an environment. Raise ReleaseError for the first fault."""
    asc = python.with_name("asc")
    work = folder / "work"
    work.mkdir()
    (work / "flights.csv").write_text(_ROWS, encoding="utf-8")
    (work / "queries.ndjson").write_text(_QUERIES, encoding="utf-8")
    (work / "asc.toml").write_text(
        '[streams.flights]\ntopic = "flights"\nformat = "json"\nschema_file = "flights.ddl"\n', encoding="utf-8"
    )
    _expect(_run([asc, "--help"], work), "asc --help", "query")
    _expect(_run([asc, "version"], work), "asc version", version)
    _run([python, "-m", "pip", "check", "--disable-pip-version-check"], work)
    schema = _run([asc, "schema", "infer", "flights.csv"], work)
    _expect(schema, "asc schema infer", "arr_delay")
    (work / "flights.ddl").write_text(schema, encoding="utf-8")
    _expect(_run([asc, "config", "--config", "asc.toml"], work), "asc config", 'topic = "flights"')
    matching = ["match", "--json", "--queries", "queries.ndjson", "--schema", "flights.ddl", "flights.csv"]
    _expect(_run([asc, *matching], work), "asc match", '"late": 1')
    _expect(_run([python, "-c", f"import {', '.join(PACKAGES)}{_LIBRARY}"], work), "the library", "as it should be")


def _expect(output: str, of: str, text: str) -> None:
    if text not in output:
        shown = output.strip().splitlines()
        raise ReleaseError(f"output of {of}", shown[0][:200] if shown else "", f"has no {text!r}")


def _run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command, and return its output. The command's environment lacks the variables, such as PYTHONPATH, through
    which Python would import another source tree.
    """
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ASC_", "VIRTUAL_ENV"))
    }
    run = subprocess.run(
        [str(part) for part in command], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if run.returncode:
        lines = (run.stderr.strip() or run.stdout.strip()).splitlines()
        shown = " ".join(str(part) for part in command[:4]).replace("\n", " ")[:200]
        raise ReleaseError("command", shown, f"ended with {run.returncode}: {lines[-1] if lines else ''}")
    return run.stdout
