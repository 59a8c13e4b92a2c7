"""Labels, and the answer to a registration in words."""

from __future__ import annotations

from typing import Any

import click
from click.testing import CliRunner

from cli.registration_options import label_option, print_registered

ANSWER: dict[str, Any] = {
    "query": {"id": "late", "where": "n > 1", "topic": "out"},
    "version": 7,
    "effective_offsets": {"0": 12},
}


def test_labels_are_pairs() -> None:
    @click.command()
    @label_option
    def labelled(labels: dict[str, str]) -> None:
        click.echo(str(labels))

    assert CliRunner().invoke(labelled, ["--label", "a=b=c", "--label", "d="]).stdout == "{'a': 'b=c', 'd': ''}\n"
    for wrong in ("a", "=b"):
        refused = CliRunner().invoke(labelled, ["--label", wrong])
        assert refused.exit_code == 2
        assert "is not of the form KEY=VALUE" in refused.stderr


def test_what_became_of_it(capsys: Any) -> None:
    print_registered(ANSWER, as_json=False)
    assert capsys.readouterr().out == "registered late -> out, version 7, from offset 12 of partition 0\n"
    previous = {"where": "n\n> 2", "topic": "out", "stream": "s"}
    print_registered({**ANSWER, "change": "replaced", "previous": previous, "warnings": ["odd"]}, as_json=False)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[1] == "in place of: n > 2 -> out"
    assert printed.err == "warning: odd\n"
