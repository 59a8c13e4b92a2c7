"""``asc``: the command line. Each command parses its arguments, calls the broker and prints the result. It imports
heavy modules only when it runs.
"""

from __future__ import annotations

import click

from cli.bench import bench
from cli.command import examples
from cli.completion import completion
from cli.config import config
from cli.dead_letter import dead_letter
from cli.demo.command import demo
from cli.failure import FailureGroup
from cli.functions import functions
from cli.help import help_command
from cli.join import join
from cli.layer import layer
from cli.match import match
from cli.operators.commands import OPERATOR_COMMANDS
from cli.publish import publish
from cli.query.commands import query
from cli.runtime import runtime
from cli.schema import schema
from cli.serve import serve
from cli.status import status
from cli.subscribe import subscribe
from cli.token import token
from cli.trace import trace
from cli.version import version, version_option

_OPERATORS = [str(command.name) for command in OPERATOR_COMMANDS]
_OVER_FILES = [str(command.name) for command in OPERATOR_COMMANDS if "run" in command.commands]

_HELP = f"""A message broker for standing SQL predicates over Kafka.

Every record of a stream arrives in the topics of exactly the predicates that accept it.

query, join, {", ".join(_OPERATORS)}, layer, publish, subscribe, trace, dead-letter and status ask the daemon that
'asc serve' runs, on any host. No daemon is needed for demo, match, {", ".join(_OVER_FILES)}, schema, bench, config,
functions, runtime, token, completion, version, and for 'check --schema' of query,
{" and ".join((", ".join(_OPERATORS[:-1]), _OPERATORS[-1]))}.

Exit codes: 0, 1 for a failure, 2 for wrong use.
"""


@click.group(
    help=_HELP,
    cls=FailureGroup,
    context_settings={"max_content_width": 110},
    epilog=examples(
        "asc demo",
        "asc serve --config asc.toml",
        'asc query add late --where "arr_delay > 60"',
        "asc publish --stream flights flights.csv.gz",
        "asc subscribe late --from-beginning",
        "asc trace --source flights-0-1742",
        "asc dead-letter list",
        "asc help query add",
    ),
)
@click.option("--debug", is_flag=True, envvar="ASC_DEBUG", help="Show the stack trace of a failure (ASC_DEBUG).")
@version_option
def main(debug: bool) -> None:
    """Run a command of asc."""


for command in (
    demo,
    serve,
    query,
    join,
    *OPERATOR_COMMANDS,
    layer,
    publish,
    subscribe,
    dead_letter,
    match,
    schema,
    bench,
    config,
    functions,
    runtime,
    status,
    token,
    trace,
    completion,
    version,
    help_command,
):
    main.add_command(command)
