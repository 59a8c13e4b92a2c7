"""Registration of all queries that lists of values in the options define."""

from __future__ import annotations

from typing import cast

import click

from broker.client.client import Client
from cli.client import Json
from cli.output import counted, print_json


def register_several(client: Client, body: Json, *, as_json: bool) -> None:
    """Register the queries of a body, all or none. Print the answer, and its warnings on standard error."""
    from broker.operators.dbscan.body import DbscanBody

    names = [own for own, _ in DbscanBody.combinations(body["id"], body["operator"])]
    answer = cast("Json", client.register(body))
    if as_json:
        print_json(answer)
        return
    topic = body.get("topic") or f"asc.{body['id']}"
    count = counted(answer["registered"], "query")
    click.echo(f"registered {count}, {names[0]} to {names[-1]} -> {topic}, version {answer['version']}")
    for query_id, warnings in (answer.get("warnings") or {}).items():
        for warning in warnings:
            click.echo(f"warning: {query_id}: {warning}", err=True)
