"""Files that a command reads whole: their bytes, and a bound that holds where a file has no end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from broker.errors import InputError
from broker.files.bounded_file import read_text, read_whole
from broker.whole_file import TEXT_BYTES_MAX
from cli.main import main
from cli.query.desired_queries import query_files

ENDLESS = Path("/dev/zero")


def test_a_file_at_its_bound_is_read_and_one_beyond_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "queries.ndjson"
    file.write_bytes(b"x" * 3_000_000)
    assert read_whole(file, 3_000_000) == b"x" * 3_000_000
    with pytest.raises(InputError, match=r"file '.*queries.ndjson': has more than 2 MiB: divide it"):
        read_whole(file, 2_999_999)


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(InputError, match="file '/dev/zero': has more than 16 MiB"):
        read_text(ENDLESS)


def test_a_text_is_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    file = tmp_path / "schema.ddl"
    file.touch()
    os.truncate(file, TEXT_BYTES_MAX)
    assert len(read_text(file)) == TEXT_BYTES_MAX
    os.truncate(file, TEXT_BYTES_MAX + 1)
    with pytest.raises(InputError, match="has more than 16 MiB"):
        read_text(file)


def test_lines_of_other_systems_are_lines(tmp_path: Path) -> None:
    file = tmp_path / "schema.ddl"
    file.write_bytes("a INT,\r\nb STRING COMMENT 'ü'\r".encode())
    assert read_text(file) == "a INT,\nb STRING COMMENT 'ü'\n"


def test_the_files_of_a_folder_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.query.desired_queries.QUERIES_BYTES_MAX", 2 << 20)
    for name in ("a.ndjson", "b.ndjson"):
        (tmp_path / name).write_bytes(b" " * (1 << 20))
    assert [name for name, _ in query_files(tmp_path)] == ["a.ndjson", "b.ndjson"]
    (tmp_path / "c.ndjson").write_bytes(b" ")
    with pytest.raises(InputError, match="have more than 2 MiB together"):
        query_files(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ("query", "check", "--schema", "/dev/zero", "--where", "n > 1"),
        ("match", "--schema", "/dev/zero", "--queries", "{queries}", "{rows}"),
        ("match", "--queries", "/dev/zero", "{rows}"),
        ("query", "apply", "/dev/zero", "--format", "ndjson"),
        ("query", "list", "--token-file", "/dev/zero"),
    ],
)
def test_commands_do_not_read_without_an_end(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("broker.files.queries_file", "cli.query.apply"):
        monkeypatch.setattr(f"{place}.QUERIES_BYTES_MAX", 1 << 20)
    (tmp_path / "queries.ndjson").write_text('{"id": "a", "where": "n > 1"}\n')
    (tmp_path / "rows.csv").write_text("n\n1\n")
    files = {"queries": tmp_path / "queries.ndjson", "rows": tmp_path / "rows.csv"}
    result = CliRunner().invoke(main, [part.format_map(files) for part in command])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "MiB" in result.stderr
