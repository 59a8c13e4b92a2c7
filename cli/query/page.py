"""The HTML page of a registered query and of its block in the plan."""

from __future__ import annotations

from pathlib import Path

from broker.answers.trace import Explanation
from broker.client.client import Client
from broker.failure import naming
from cli.failure import CommandError

_TRIES = 5


def write_query_page(client: Client, query_id: str, path: Path) -> Explanation:
    """Write the page of a query, and return the daemon's answer about its constructs.

    Raise OSError if the page cannot be written, and CommandError if the plan changes at each attempt to read it.
    """
    from broker.pages.query_page import query_page

    for _ in range(_TRIES):
        answer = client.explain(query_id)
        stream = answer["query"]["stream"]
        block = None if answer["block"] is None else client.block(stream, answer["block"])
        # The page needs two requests. A change of queries between them may have renumbered the blocks.
        if block is None or block["version"] == answer["version"]:
            with naming(path):
                path.write_text(query_page(answer, block), encoding="utf-8")
            return answer
    raise CommandError("plan of stream", stream, "changes while it is read: try again when fewer queries change")
