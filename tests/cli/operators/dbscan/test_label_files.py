"""Files of labels."""

from __future__ import annotations

import gc
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from asc.operators.dbscan.clusters import Clusters
from broker.unfinished_file import unfinished
from cli.failure import CommandError
from cli.operators.dbscan import label_files as module
from cli.operators.dbscan.label_files import SCHEMA, label_files
from tests.asc.operators.dbscan.model import MS, Record, feed, query, run, texts

RECORDS = [Record(number * 5 * MS, (number % 3 * 0.5, 0.0), ("s",), number) for number in range(9)]
TIMED, COUNTED = query("timed"), query("counted", is_timed=False, window=4, slide=4, eps=0.5)


def test_a_file_has_the_points_of_all_windows_of_a_query(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "labels"
    with label_files(folder, ["timed", "counted", "silent"]) as files:
        run(texts(feed([RECORDS], 0, TIMED, COUNTED)), Clusters(on_labels=files.add))
        assert [path for path in folder.iterdir() if not path.name.startswith(".")] == []
    assert sorted(path.name for path in folder.iterdir()) == ["counted.parquet", "silent.parquet", "timed.parquet"]
    timed, counted, silent = (pq.read_table(folder / f"{name}.parquet") for name in ("timed", "counted", "silent"))
    assert timed.schema == counted.schema == silent.schema == SCHEMA
    assert silent.num_rows == 0
    assert [row["row"] for row in timed.to_pylist() if row["window_end"] == 20 * MS] == [0, 1, 2, 3]
    assert set(timed["window_end"].to_pylist()) == {10 * MS, 20 * MS, 30 * MS, 40 * MS}
    assert counted.to_pylist() == [
        {"window_end": end, "row": row, "label": 0, "role": role}
        for end, rows, roles in ((4, (0, 1, 2, 3), "ccbc"), (8, (4, 5, 6, 7), "cccc"))
        for row, role in zip(rows, [{"c": "core", "b": "border"}[own] for own in roles], strict=True)
    ]


def test_few_rows_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS_A_GROUP", 5)
    monkeypatch.setattr(module, "_ROWS_HELD", 6)
    with label_files(tmp_path, ["timed", "counted"]) as files:

        def add(*labelled: object) -> None:
            files.add(*labelled)  # type: ignore[arg-type]
            assert sum(files._rows.values()) <= 6

        run(texts(feed([RECORDS], 0, TIMED, COUNTED)), Clusters(on_labels=add))
    assert pq.read_table(tmp_path / "counted.parquet").num_rows == 8


def test_a_failure_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "timed.parquet").write_text("of before")

    def fail() -> None:
        with label_files(tmp_path, ["timed"]) as files:
            run(texts(feed([RECORDS], 0, TIMED)), Clusters(on_labels=files.add))
            files._write("timed")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("timed.parquet", "of before")]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="folder of labels"), label_files(tmp_path / "file", ["timed"]):
        pass


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write(folder: Path) -> None:
    with label_files(folder, ["counted", "timed"]) as files:
        run(texts(feed([RECORDS], 0, TIMED, COUNTED)), Clusters(on_labels=files.add))
        files._write("counted")


def test_a_full_disk_is_named_with_the_file_and_leaves_no_part(tmp_path: Path) -> None:
    unfinished(tmp_path / "timed.parquet").symlink_to("/dev/full")
    with pytest.raises(CommandError) as refused:
        write(tmp_path)
    assert str(refused.value) == (
        f"file of labels '{tmp_path / 'timed.parquet'}': cannot be written: No space left on device"
    )
    # The other one was complete by then.
    assert [path.name for path in tmp_path.iterdir()] == ["counted.parquet"]


def test_a_file_whose_end_cannot_be_written_leaves_no_part(tmp_path: Path) -> None:
    # What it compiles, it stores in files as well.
    run(texts(feed([RECORDS], 0, TIMED, COUNTED)), Clusters())
    with files_of_at_most(100), pytest.raises(CommandError, match=r"counted\.parquet': cannot be written: File too"):
        write(tmp_path)
    # A writer that is collected closes its file, which must not fail again.
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_more_files_than_a_process_may_open_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 300))
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: raised.append(limits))
    with pytest.raises(CommandError, match="raise 'ulimit -n'"), label_files(tmp_path, map(str, range(173))):
        pass
    module._open_at_once(172)
    module._open_at_once(100)
    assert raised == [(300, 300)]
