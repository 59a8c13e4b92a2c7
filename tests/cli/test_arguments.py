"""Arguments that commands share: what they hand on, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence

import click
import pytest
from click.testing import CliRunner

from cli.arguments import query_ids_argument


@click.command()
@query_ids_argument()
def named(query_ids: Sequence[str]) -> None:
    click.echo(",".join(query_ids))


@pytest.mark.parametrize("ids", [["late"], ["late", "a b", "late"]])
def test_one_id_or_more(ids: list[str]) -> None:
    assert CliRunner().invoke(named, ids).output == f"{','.join(ids)}\n"


def test_no_id_is_wrong_use() -> None:
    assert CliRunner().invoke(named, []).exit_code == 2
