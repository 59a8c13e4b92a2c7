"""What a run writes down about its durations, alone and on two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = """
import time
import pytest

@pytest.fixture(scope="module")
def slow():
    time.sleep(0.2)
    yield
    time.sleep(0.1)

@pytest.fixture
def asks(request):
    request.getfixturevalue("slow")

def test_one(asks):
    time.sleep(0.3)

@pytest.mark.parametrize("value", [1])
def test_two(slow, value):
    pass
"""


@pytest.mark.parametrize("options", [(), ("--numprocesses=2", "--dist=loadfile")], ids=["alone", "on two processes"])
def test_durations_are_written_by_test_and_fixture_and_the_slowest_files_printed(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "test_slow.py").write_text(TESTS, "utf-8")
    (tmp_path / "test_quick.py").write_text("def test_nothing():\n    pass\n", "utf-8")
    found, printed = run(tmp_path, *options)

    assert set(found["tests"]) == {"test_slow.py::test_one", "test_slow.py::test_two[1]", "test_quick.py::test_nothing"}
    one, two = found["tests"]["test_slow.py::test_one"], found["tests"]["test_slow.py::test_two[1]"]
    assert one["setup_s"] >= 0.2
    assert one["call_s"] >= 0.3
    assert two["teardown_s"] >= 0.1
    assert two["setup_s"] < one["setup_s"]
    slow, asks = found["fixtures"]["test_slow.py::slow"], found["fixtures"]["test_slow.py::asks"]
    assert "value" not in found["fixtures"]
    assert (slow["setups"], asks["setups"]) == (1, 1)
    assert slow["setup_s"] >= 0.2
    assert slow["teardown_s"] >= 0.1
    assert asks["setup_s"] < slow["setup_s"], "a fixture pays for what it asks for by name"
    assert found["files"]["test_slow.py"] >= 0.6
    assert list(found["files"]) == ["test_slow.py", "test_quick.py"]
    assert "slowest 2 files" in printed
    assert printed.index("test_slow.py\n") < printed.index("test_quick.py\n")
    assert "3 passed" in printed.splitlines()[-1]


def test_a_fixture_that_fails_is_counted_as_well(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.fixture\ndef broken():\n    raise OSError\ndef test_it(broken):\n    pass\n"
    (tmp_path / "test_broken.py").write_text(text, "utf-8")
    found, printed = run(tmp_path)
    assert found["fixtures"]["test_broken.py::broken"]["setups"] == 1
    assert "1 error" in printed.splitlines()[-1]


def test_a_test_that_ends_its_process_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "test_exits.py").write_text("import os\ndef test_it():\n    os._exit(3)\n", "utf-8")
    found, printed = run(tmp_path, "--numprocesses=1")
    assert found["tests"].keys() <= {"test_exits.py::test_it"}
    assert "INTERNALERROR" not in printed
    assert "1 failed" in printed.splitlines()[-1]


def run(folder: Path, *options: str) -> tuple[Any, str]:
    """Run pytest in a folder with the plugin: what it wrote down and what it printed."""
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    # Other plugins take seconds to load.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "durations", "-p", "xdist", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return json.loads((folder / "build" / "durations.json").read_text("utf-8")), done.stdout
