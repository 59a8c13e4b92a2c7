"""The commands of all operators, one group per operator."""

from __future__ import annotations

from cli.operators.cube.commands import cube
from cli.operators.dbscan.commands import dbscan
from cli.operators.events import events
from cli.operators.near import near

OPERATOR_COMMANDS = (events, near, dbscan, cube)
"""The command group of each operator, in the order of the table of operators."""
