"""The commands of operators, held to the table of kinds."""

from __future__ import annotations

from broker.operators.kinds import OPERATORS
from cli.operators.commands import OPERATOR_COMMANDS


def test_each_kind_has_its_command_with_add_and_check() -> None:
    assert [command.name for command in OPERATOR_COMMANDS] == sorted(OPERATORS)
    for command in OPERATOR_COMMANDS:
        assert {"add", "check"} <= set(command.commands)
