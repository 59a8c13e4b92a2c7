"""Options that name a file."""

from __future__ import annotations

from pathlib import Path

import click
from click.testing import CliRunner

from cli.file_options import config_option


@click.command()
@config_option("The file.")
def configured(config_file: Path | None) -> None:
    click.echo(repr(config_file))


def test_a_configuration_is_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.touch()
    assert CliRunner().invoke(configured, ["--config", str(path)]).output == f"{path!r}\n"
    assert CliRunner().invoke(configured, []).output == "None\n"
    for none in (tmp_path, tmp_path / "other.toml"):
        assert CliRunner().invoke(configured, ["--config", str(none)]).exit_code == 2
