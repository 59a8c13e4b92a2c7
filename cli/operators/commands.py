"""The table of the commands of all operator kinds, one group for each kind."""

from __future__ import annotations

from cli.operators.cube.commands import cube
from cli.operators.dbscan.commands import dbscan
from cli.operators.events import events
from cli.operators.near import near

OPERATOR_COMMANDS = (events, near, dbscan, cube)
"""The command group of each operator kind, in the order of the table of kinds."""
