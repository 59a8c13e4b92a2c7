"""atheris leads texts through the parser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.fuzz.coverage import has_atheris
from tools.fuzz.journal import Journal

pytestmark = pytest.mark.skipif(not has_atheris(), reason="atheris has no wheel for this Python and processor")
_ROOT = Path(__file__).parents[3]


def ended(journal: Path, *more: str) -> int:
    program = "\n".join((*more, "import sys; from tools.fuzz.child import main; main(*sys.argv[1:])"))
    command = [sys.executable, "-c", program, "coverage", str(journal), "3", "1"]
    return subprocess.run(command, cwd=_ROOT, timeout=120, capture_output=True, check=False).returncode


@pytest.mark.nightly
def test_it_tries_texts_and_finds_what_is_wrong(tmp_path: Path) -> None:
    assert ended(tmp_path / "sound") == 0
    assert Journal(tmp_path / "sound").entry().tried > 100
    module = "asc.predicate.normal_form.describe"
    broken = f"import {module} as d; d.describe = lambda one: {{}}['none'] if one.text.startswith('n =') else ''"
    assert ended(tmp_path / "broken", broken) == 3
    assert Journal(tmp_path / "broken").found() == "KeyError: 'none'"
