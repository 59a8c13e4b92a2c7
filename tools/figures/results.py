"""The result files of the benchmarks, each read once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.figures.errors import FiguresError

Result = Any
"""The content of one result file, or a part of it."""

Results = Mapping[str, Result]
"""Results by the names of their files, without ``.json``."""


class ResultFolder(Results):
    """The result files of a folder. A file is read when its result is first used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Result] = {}

    def __getitem__(self, name: str) -> Result:
        if name not in self._read:
            self._read[name] = _content(self._folder / f"{name}.json")
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(path.stem for path in self._folder.glob("*.json")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return (self._folder / f"{name}.json").is_file()


def _content(path: Path) -> Result:
    """Return the result in a file. Raise FiguresError for the result of a quick run, because its figures are not
    meaningful and must not appear in a table.
    """
    try:
        result = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FiguresError("result", str(path), f"cannot be read ({error}): run its benchmark") from error
    if result.get("quick") or result.get("scale", 1) < 1:
        raise FiguresError("result", str(path), "is of a quick run: run its benchmark at full size")
    return result
