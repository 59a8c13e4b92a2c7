"""How rows of files become attributes: by options of the command, by a stream of the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.decoding import decoding_of
from cli.main import main

CONFIG = """
[spark]
time_zone = "Europe/Oslo"
[streams.s]
topic = "s"
format = "csv"
schema = "n INT"
[streams.s.options]
sep = ";"
dateFormat = "dd/MM/yyyy"
"""


def test_a_stream_gives_files_of_another_format_what_all_formats_have(tmp_path: Path) -> None:
    (tmp_path / "asc.toml").write_text(CONFIG, encoding="utf-8")
    common = {"schema_file": None, "config_file": tmp_path / "asc.toml", "stream": None, "time_zone": None}
    own = decoding_of("csv", options={"nullValue": "NA"}, **common)  # type: ignore[arg-type]
    assert own.options == {"sep": ";", "dateFormat": "dd/MM/yyyy", "nullValue": "NA"}
    assert (own.time_zone, own.schema.ddl()) == ("Europe/Oslo", "n INT")
    other = decoding_of("ndjson", options={"dateFormat": "yyyy"}, **{**common, "time_zone": "UTC"})  # type: ignore[arg-type]
    assert (other.options, other.time_zone) == ({"dateFormat": "yyyy"}, "UTC")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "name the schema with --schema, or a stream with --config"),
        (["--schema", "s.ddl", "--config", "asc.toml"], 2, "name the schema with --schema, or"),
        (["--schema", "s.ddl", "--stream", "s"], 2, "--stream needs --config"),
        (["--schema", "s.ddl", "--option", "timestampFormat"], 2, "is not NAME=VALUE"),
        (["--schema", "s.ddl", "--option", "timestampFromat=yyyy"], 1, "did you mean 'timestampFormat'?"),
        (["--config", "asc.toml"], 1, "it has: one, two"),
        (["--config", "asc.toml", "--stream", "three"], 1, "unknown stream"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    (tmp_path / "s.ddl").write_text("n INT", encoding="utf-8")
    stream = 'topic = "t"\nformat = "json"\nschema = "n INT"\n'
    (tmp_path / "asc.toml").write_text(f"[streams.one]\n{stream}[streams.two]\n{stream}", encoding="utf-8")
    (tmp_path / "rows.ndjson").write_text('{"n": 1}\n', encoding="utf-8")
    (tmp_path / "queries.json").write_text('{"q": "n > 0"}', encoding="utf-8")
    named = [str(tmp_path / text) if text.endswith((".ddl", ".toml")) else text for text in arguments]
    paths = [str(tmp_path / "rows.ndjson"), "--queries", str(tmp_path / "queries.json")]
    result = CliRunner().invoke(main, ["match", *paths, *named])
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr
    assert said in result.stderr
