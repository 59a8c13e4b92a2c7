"""Damaged files of a checkpoint: mended where something else says the same, named where nothing does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from broker.errors import BrokerError
from broker.plans.binding import BatchBindings, Binding
from broker.plans.checkpoint import mend_checkpoint
from broker.plans.running_plan import RunningPlan

LAST = 5
DAMAGE = [b"", b"v1", b"v1\n{", b"v1\n[]\n[]", b"\xff\x00" * 40]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six batches of two partitions, all of them bound, the last one not committed."""
    spark = tmp_path / "spark"
    for kind in ("offsets", "commits"):
        (spark / kind).mkdir(parents=True)
    (spark / "metadata").write_text('{"id":"0a9b"}')
    bindings = BatchBindings(tmp_path / "bindings", spark)
    for batch in range(LAST + 1):
        (spark / "offsets" / str(batch)).write_text(entry(batch))
        bindings.bind(batch, 40 + batch)
        if batch < LAST:
            (spark / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    return tmp_path


def entry(batch: int) -> str:
    head = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1_700_000_000_000 + batch, "conf": {"a": "b"}})
    return f"v1\n{head}\n{json.dumps(ends(batch))}"


def ends(batch: int) -> dict[str, dict[str, int]]:
    return {"t": {"0": 10 * batch + 3, "1": 7}}


def mended(folder: Path) -> list[str]:
    return [line.removeprefix(f"{folder}/") for line in mend_checkpoint(folder, "t")]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_whole_is_left_alone(folder: Path, tmp_path: Path) -> None:
    before = contents(folder)
    assert mended(folder) == []
    assert contents(folder) == before
    assert mended(tmp_path / "not-there-yet") == []


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("batch", [LAST - 1, LAST])
def test_an_entry_of_the_log_is_written_anew_from_the_binding(folder: Path, batch: int, damage: bytes) -> None:
    path = folder / "spark" / "offsets" / str(batch)
    path.write_bytes(damage)
    path.with_name(f".{batch}.crc").write_bytes(b"crc")
    assert mended(folder) == [f"spark/offsets/{batch} is damaged: written anew from the binding of batch {batch}"]
    version, head, last = path.read_text().splitlines()
    assert (version, json.loads(last)) == ("v1", ends(batch))
    assert json.loads(head)["conf"] == {"a": "b"}
    assert not path.with_name(f".{batch}.crc").exists()
    assert mended(folder) == []
    assert BatchBindings(folder / "bindings", folder / "spark").bind(batch, 99).version == 40 + batch


@pytest.mark.parametrize("batch", [LAST - 1, LAST])
def test_an_entry_that_is_gone_is_written_anew_from_the_binding(folder: Path, batch: int) -> None:
    path = folder / "spark" / "offsets" / str(batch)
    path.unlink()
    assert mended(folder) == [f"spark/offsets/{batch} is gone: written anew from the binding of batch {batch}"]
    assert json.loads(path.read_text().splitlines()[2]) == ends(batch)
    assert BatchBindings(folder / "bindings", folder / "spark").bind(batch, 99).version == 40 + batch


def test_where_the_whole_log_is_gone_the_stream_begins_anew(folder: Path) -> None:
    for path in (folder / "spark" / "offsets").iterdir():
        path.unlink()
    assert mended(folder) == []
    assert list((folder / "spark" / "offsets").iterdir()) == []


def with_sums(path: Path) -> Path:
    """Hadoop's sums beside a file."""
    content = path.read_bytes()
    sums = [crc32(content[at : at + 512]).to_bytes(4, "big") for at in range(0, len(content), 512)]
    beside = path.with_name(f".{path.name}.crc")
    beside.write_bytes(b"crc\0\0\0\2\0" + b"".join(sums))
    return beside


@pytest.mark.parametrize("damaged", ["the file", "its sums"])
@pytest.mark.parametrize("name", [f"offsets/{LAST}", f"commits/{LAST - 1}", "metadata"])
def test_what_does_not_fit_its_sums_is_damaged(folder: Path, name: str, damaged: str) -> None:
    path = folder / "spark" / name
    if "offsets" in name:
        # More than one sum.
        path.write_text(entry(LAST).replace('"b"', json.dumps("b" * 600)))
    beside = with_sums(path)
    assert mended(folder) == []
    if damaged == "the file":
        path.write_bytes(path.read_bytes().translate(bytes.maketrans(b"0369", b"1470")))
    else:
        beside.write_bytes(beside.read_bytes()[:-1])
    (line,) = mended(folder)
    assert line.startswith(f"spark/{name} is damaged: ")
    assert not beside.exists()
    if "offsets" in name:
        assert json.loads(path.read_text().splitlines()[2]) == ends(LAST)
    assert mended(folder) == []


@pytest.mark.parametrize("sums", [b"", b"crc", b"\0" * 12])
def test_sums_that_hadoop_passes_over_damage_nothing(folder: Path, sums: bytes) -> None:
    (folder / "spark" / "offsets" / f".{LAST}.crc").write_bytes(sums)
    assert mended(folder) == []


def test_where_spark_noted_that_the_stream_begins_is_noted_anew(folder: Path) -> None:
    begin = folder / "spark" / "sources" / "0" / "0"
    begin.parent.mkdir(parents=True)
    begin.write_bytes(b'\0v1\n{"t":{"0":3,"1":7}}')
    assert mended(folder) == []
    begin.write_bytes(b"")
    said = f"where the stream begins is read from {folder}/starting-offsets.json"
    assert mended(folder) == [f"spark/sources/0/0 is damaged: {said}"]
    assert not begin.exists()


def test_a_batch_that_was_not_bound_is_planned_anew(folder: Path) -> None:
    path = folder / "spark" / "offsets" / str(LAST + 1)
    path.write_bytes(b"")
    assert mended(folder) == [f"spark/offsets/{LAST + 1} is damaged: batch {LAST + 1} is planned anew"]
    assert not path.exists()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_commit_is_taken_back(folder: Path, damage: bytes) -> None:
    path = folder / "spark" / "commits" / str(LAST - 1)
    path.write_bytes(damage)
    (line,) = mended(folder)
    assert line == f"spark/commits/{LAST - 1} is damaged: that batch {LAST - 1} is done is not known any more"
    assert not path.exists()


def flipped(content: bytes) -> bytes:
    """The version of another number."""
    return content.replace(b'"version": 4', b'"version": 5')


@pytest.mark.parametrize("damage", [*DAMAGE, None, flipped])
@pytest.mark.parametrize("batch", [LAST - 1, LAST])
def test_a_binding_is_written_anew_from_its_copy(
    folder: Path, batch: int, damage: bytes | Callable[[bytes], bytes] | None
) -> None:
    path = folder / "bindings" / str(batch)
    before = contents(folder)
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()) if callable(damage) else damage)
    assert contents(folder) != before
    assert mended(folder) == [f"bindings/{batch} is damaged: written anew from its copy"]
    assert contents(folder) == before
    assert BatchBindings(folder / "bindings", folder / "spark").bind(batch, 99).version == 40 + batch


def test_a_copy_alone_that_is_damaged_is_not_asked_for(folder: Path) -> None:
    (folder / "bindings" / f"{LAST}.copy").write_bytes(b"")
    assert mended(folder) == []
    assert BatchBindings(folder / "bindings", folder / "spark").bind(LAST, 99).version == 40 + LAST


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_binding_without_a_copy_ends_the_start_where_its_batch_is_not_done(folder: Path, damage: bytes) -> None:
    path = folder / "bindings" / str(LAST)
    for each in (path, path.with_name(f"{LAST}.copy")):
        each.write_bytes(damage)
    said = f"nothing else says with which queries batch {LAST} was begun. Put one of them back, or remove both"
    with pytest.raises(BrokerError, match=said):
        mended(folder)
    for each in (path, path.with_name(f"{LAST}.copy")):
        each.unlink()
    assert mended(folder) == []
    assert BatchBindings(folder / "bindings", folder / "spark").bind(LAST, 99).version == 99


def test_a_binding_without_a_copy_is_dropped_where_its_batch_is_done_and_its_end_is_known(folder: Path) -> None:
    (folder / "spark" / "commits" / str(LAST)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    for name in (f"{LAST}", f"{LAST}.copy"):
        (folder / "bindings" / name).write_bytes(b"")
    assert mended(folder) == []
    bindings = BatchBindings(folder / "bindings", folder / "spark")
    assert bindings.last() == Binding(LAST, -1, {0: 53, 1: 7})
    running = RunningPlan("s", bindings, {0: 3, 1: 7})
    assert (running.effective_offsets(), running.version_to_replay) == ({0: 53, 1: 7}, None)


def test_the_name_of_the_query_is_made_anew(folder: Path) -> None:
    (folder / "spark" / "metadata").write_bytes(b"")
    assert mended(folder) == ["spark/metadata is damaged: written anew"]
    assert set(json.loads((folder / "spark" / "metadata").read_text())) == {"id"}


def test_all_that_a_crash_left_empty_is_mended_at_once(folder: Path) -> None:
    spark = folder / "spark"
    for batch in (LAST - 1, LAST - 2):
        (spark / "commits" / str(batch)).write_bytes(b"")
    for batch in (LAST - 1, LAST, LAST + 1, LAST + 2):
        (spark / "offsets" / str(batch)).write_bytes(b"")
    lines = mended(folder)
    assert [line.partition(" ")[0] for line in lines] == [
        *(f"spark/commits/{batch}" for batch in (LAST - 1, LAST - 2)),
        *(f"spark/offsets/{batch}" for batch in (LAST + 2, LAST + 1, LAST, LAST - 1)),
    ]
    assert mended(folder) == []
    for batch in (LAST - 1, LAST):
        assert json.loads((spark / "offsets" / str(batch)).read_text().splitlines()[2]) == ends(batch)
    assert max(int(path.name) for path in (spark / "offsets").iterdir()) == LAST
    assert max(int(path.name) for path in (spark / "commits").iterdir()) == LAST - 3


def test_an_entry_is_of_the_topic_that_the_others_are_of(folder: Path) -> None:
    path = folder / "spark" / "offsets" / str(LAST)
    path.write_bytes(b"")
    assert len(list(mend_checkpoint(folder, "renamed"))) == 1
    assert json.loads(path.read_text().splitlines()[2]) == ends(LAST)


def test_a_file_that_cannot_be_read_at_all_is_left_alone(folder: Path) -> None:
    path = folder / "bindings" / str(LAST)
    path.unlink()
    path.mkdir()
    with pytest.raises(BrokerError, match="cannot be read: Is a directory"):
        mended(folder)


def test_what_nothing_else_says_is_named_with_what_to_do(folder: Path) -> None:
    (folder / "spark" / "offsets" / str(LAST - 1)).write_bytes(b"")
    for name in (f"{LAST - 1}", f"{LAST - 1}.copy"):
        (folder / "bindings" / name).unlink()
    with pytest.raises(BrokerError, match="nothing else says where batch 4 ended: stop the daemon"):
        mended(folder)
