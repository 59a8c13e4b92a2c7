"""What a figure was measured on."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path

from bench.machine import machine


def test_it_is_this_machine() -> None:
    found = json.loads(json.dumps(machine()))
    assert found["cores"] == os.cpu_count()
    total_kib = int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0])
    assert abs(found["memory_gib"] - total_kib / 2**20) < 0.1
    assert found["processor"].strip() == found["processor"] != ""
    for name, shown in found["packages"].items():
        assert shown == version(name)
