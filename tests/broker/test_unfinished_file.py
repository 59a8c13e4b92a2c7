"""A file that is not complete has a name of its own for each process, beside the file."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from broker.unfinished_file import unfinished


def test_it_is_hidden_beside_the_file_and_differs_by_process() -> None:
    path = Path("/data/out.parquet")
    own = unfinished(path)
    assert own.parent == path.parent
    assert own.name.startswith(".out.parquet.")
    assert own == unfinished(path)
    with multiprocessing.get_context("spawn").Pool(1) as other:
        assert other.apply(unfinished, (path,)) != own


def test_different_files_have_different_names() -> None:
    assert unfinished(Path("a")) != unfinished(Path("b"))
