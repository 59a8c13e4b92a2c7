"""The commands of the kinds of operators, one group a kind."""

from __future__ import annotations

from cli.operators.cube.commands import cube
from cli.operators.dbscan.commands import dbscan
from cli.operators.events import events
from cli.operators.near import near

OPERATOR_COMMANDS = (events, near, dbscan, cube)
"""The group of each kind, by the name of the kind, in the order of the table of kinds."""
