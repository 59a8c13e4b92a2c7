"""Options and arguments that commands share: what they hand on, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli.arguments import config_option, query_ids_argument


@click.command()
@config_option("The file.")
def configured(config_file: Path | None) -> None:
    click.echo(repr(config_file))


@click.command()
@query_ids_argument()
def named(query_ids: Sequence[str]) -> None:
    click.echo(",".join(query_ids))


def test_a_configuration_is_a_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "asc.toml"
    path.touch()
    assert CliRunner().invoke(configured, ["--config", str(path)]).output == f"{path!r}\n"
    assert CliRunner().invoke(configured, []).output == "None\n"
    for none in (tmp_path, tmp_path / "other.toml"):
        assert CliRunner().invoke(configured, ["--config", str(none)]).exit_code == 2


@pytest.mark.parametrize("ids", [["late"], ["late", "a b", "late"]])
def test_one_id_or_more(ids: list[str]) -> None:
    assert CliRunner().invoke(named, ids).output == f"{','.join(ids)}\n"


def test_no_id_is_wrong_use() -> None:
    assert CliRunner().invoke(named, []).exit_code == 2
