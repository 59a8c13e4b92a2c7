"""The name of a file that is not yet complete."""

from __future__ import annotations

import os
from pathlib import Path


def unfinished(path: Path) -> Path:
    """Return the name under which this process writes a file until the file is complete.

    The name is in the same folder, so that the rename to ``path`` is atomic. Each process has another name, so two
    processes never write the same file.
    """
    return path.with_name(f".{path.name}.{os.getpid()}")
