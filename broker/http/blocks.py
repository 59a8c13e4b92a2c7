"""The description of a running plan's block in the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from broker.errors import NotThereError
from broker.http.scoped_service import ScopedService
from broker.stream.stream import Stream


def described_block(permitted: ScopedService, stream: Stream, number: int) -> dict[str, Any]:
    """Return the description of a block of a stream's running plan, with the monitor's measurements of the block.
    ``number``: the number of the block, from 0.

    Raise ForbiddenError if the caller does not see all queries of the stream, because the block would reveal the other
    queries. Raise NotThereError for an unknown number, or for the number of a listed block, which has no regions.
    """
    from asc.plan.layout import laid_out

    permitted.check_sees_whole_streams("block of a plan", "use a token without id_prefix")
    plan = stream.running.plan
    if len(plan.blocks) <= number < len(plan.blocks) + len(plan.listed):
        by = "shapes" if plan.listed[number - len(plan.blocks)].by_shapes else "values"
        remedy = f"lists its conjuncts by the {by} that they ask for and has no regions: follow a record, with a trace"
        raise NotThereError("block", number, remedy)
    if not 0 <= number < len(plan.blocks):
        there = f"0 to {len(plan.blocks) - 1}" if plan.blocks else "none, for no query has a conjunct"
        raise NotThereError("block", number, f"is not in the plan of stream '{stream.name}': it has {there}")
    return {
        "stream": stream.name,
        "version": plan.version,
        **asdict(laid_out(plan, number)),
        "monitor": stream.monitor.measured(plan.blocks[number]),
    }
