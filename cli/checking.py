"""Checks of a query before it is registered: by the daemon, or offline with a schema file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from broker.visible_text import visible
from cli.arguments import stream_option, with_options
from cli.client import Json, address_options, connected
from cli.file_options import EXISTING_FILE
from cli.output import json_option, print_json

if TYPE_CHECKING:
    from asc.schema import Schema
    from broker.answers.query import Join
    from broker.operators.expression import OperatorExpressions


@dataclass(frozen=True, slots=True)
class Check:
    """The options of a check. ``schema_file``: the schema for a check without a daemon; None if the daemon checks.
    ``stream``: the daemon's stream. ``time_zone``: that of TIMESTAMP literals in a check without a daemon; None means
    UTC. ``address``: the daemon's URL, token file and CA file.
    """

    schema_file: Path | None
    stream: str | None
    time_zone: str | None
    address: tuple[str, Path | None, Path | None]
    as_json: bool

    def show(self, where: str, operator: Json | None = None, join: Join | None = None) -> None:
        """Print the normal form of a predicate and the expressions of its operator. Raise AscError if the query is
        invalid.
        """
        self.show_found(self.found(where, operator, join))

    def found(self, where: str, operator: Json | None = None, join: Join | None = None) -> Json:
        """Return the normal form of a predicate and the expressions of its operator. Raise AscError if the query is
        invalid.
        """
        if self.schema_file is None:
            with connected(*self.address) as client:
                return cast("Json", client.check(where, stream=self.stream, join=join, operator=operator))
        return checked_offline(where, operator, self.schema_file, self.time_zone or "UTC")

    def show_found(self, result: Json) -> None:
        """Print the result of a check."""
        if self.as_json:
            print_json(result)
            return
        click.echo(visible(result["text"], kept="\n"))
        if result["expressions"]:
            click.echo("the operator reads")
            for read in result["expressions"]:
                click.echo(visible(f"  {read['sql']}  {read['type']}"))
        # The answer of an earlier version of the daemon has no text of the estimate.
        if "text" in result.get("estimate", {}):
            click.echo(visible(result["estimate"]["text"]))


def check_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--schema``, ``--stream``, ``--time-zone``, ``--json``, and the options that connect to the daemon. The
    command receives all values as one `Check`, named ``check``.
    """

    @wraps(command)
    def with_check(
        *,
        schema_file: Path | None,
        stream: str | None,
        time_zone: str | None,
        server: str,
        token_file: Path | None,
        ca_file: Path | None,
        as_json: bool,
        **others: Any,
    ) -> Any:
        if schema_file is not None and stream is not None:
            raise click.UsageError("give --stream or --schema, not both: a stream has a schema of its own")
        if schema_file is None and stream is None:
            raise click.UsageError("give --stream, or --schema to check without a daemon")
        if stream is not None and time_zone is not None:
            raise click.UsageError("--time-zone goes with --schema: the daemon has its own")
        check = Check(schema_file, stream, time_zone, (server, token_file, ca_file), as_json)
        return command(check=check, **others)

    options = (
        click.option(
            "--schema",
            "schema_file",
            type=EXISTING_FILE,
            help="The stream's schema, to check without a daemon: Spark DDL, or the JSON of a Spark StructType.",
        ),
        stream_option("The stream of the daemon, to check as it would at registration."),
        click.option("--time-zone", help="With --schema: the time zone that TIMESTAMP literals are read in, else UTC."),
        address_options,
        json_option,
    )
    return with_options(with_check, options)


def checked_offline(where: str, operator: Json | None, schema_file: Path, time_zone: str) -> Json:
    """Return the answer that the daemon's ``/v1/check`` would give, computed from a schema file without a daemon and
    without Spark. Raise AscError if the query is invalid.
    """
    from asc.predicate import normalise
    from asc.predicate.normal_form.describe import plain_form
    from broker.files.schema_file import read_schema
    from broker.formats.record_attributes import attributes_of

    # Add the metadata attributes of records, which each stream has.
    attributes = attributes_of(read_schema(schema_file))
    found = plain_form(normalise(where, attributes, time_zone=time_zone))
    if operator is None:
        return {**found, "expressions": []}
    return _expressions(operator, attributes, time_zone).beside(found)


def _expressions(operator: Json, attributes: Schema, time_zone: str) -> OperatorExpressions:
    # Import the kinds only for queries with operators, because they load the kernels.
    from broker.config.sections import LimitsConfig
    from broker.errors import QueryError
    from broker.operators.expression import NO_EXPRESSIONS
    from broker.operators.kinds import definition_of, kind_of
    from broker.operators.schema_analyser import SchemaAnalyser

    definition = definition_of(operator)
    if definition is None:
        return NO_EXPRESSIONS
    kind = kind_of(definition)
    found = kind.read(definition, SchemaAnalyser(attributes, time_zone))
    excess = kind.excess(definition, LimitsConfig())
    if excess is not None:
        # The check uses the default limits. A daemon may have other limits, so the remedy proposes to ask the daemon.
        raise QueryError(excess.subject, excess.value, f"{excess.remedy} and check with --stream")
    return found
