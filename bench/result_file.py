"""A function that writes the result of a benchmark to a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_result(output_dir: Path, name: str, result: Mapping[str, Any]) -> Path:
    """Write a result as ``<name>.json`` into a folder, and return the file. Create the folder if it is missing."""
    output_dir.mkdir(parents=True, exist_ok=True)
    path = output_dir / f"{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    return path
