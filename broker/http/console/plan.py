"""The console page of a stream's plan: its blocks, the sequence of each block, and the times at which the monitor
replaced a sequence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from markupsafe import Markup

from broker.http.blocks import described_block
from broker.http.console.chart import bar
from broker.http.console.pages import Pages
from broker.http.console.rearrangements import time_line
from broker.http.scoped_service import ScopedService
from broker.http.views import described_plan
from broker.pages.block_page import block_fragment

_BLOCKS_SHOWN = 200


def plan_routes(pages: Pages, permitted_of: Callable[[Request], ScopedService]) -> APIRouter:
    """Return the routes of ``/console/plan``, and of a page for each block."""
    router = APIRouter(prefix="/plan")
    of_caller = Depends(permitted_of)

    @router.get("")
    def plan(stream: str = "", permitted: ScopedService = of_caller) -> Response:
        permitted.check_sees_whole_streams("plan", "use a token without id_prefix")
        names = sorted(permitted.streams())
        name = stream or next(iter(names), "")
        described = described_plan(permitted.stream_of(name or None))
        values = {
            "title": "Plan",
            "stream": name,
            "streams": names,
            "plan": _drawn(described),
            "time_line": time_line(described["monitor"]["rearrangements"], time.time()),
            "may_change": permitted.may_change,
        }
        return pages.page("plan.html", values)

    @router.get("/{stream}/{number}")
    def block(stream: str, number: int, permitted: ScopedService = of_caller) -> Response:
        described = described_block(permitted, permitted.stream_of(stream), number)
        drawn = Markup(block_fragment(described))
        return pages.page("block.html", {"title": f"Block {number}", "stream": stream, "block": drawn})

    return router


def _drawn(plan: dict[str, Any]) -> dict[str, Any]:
    shown = plan["blocks"][:_BLOCKS_SHOWN]
    most = max((block["conjuncts"] for block in plan["blocks"]), default=0)
    blocks = [
        {
            **block,
            "number": number,
            "share": bar(block["conjuncts"] / max(1, most), f"{block['conjuncts']} conjuncts"),
            "measured": measured,
        }
        for number, (block, measured) in enumerate(zip(shown, plan["monitor"]["blocks"], strict=False))
    ]
    return {**plan, "blocks": blocks, "more_blocks": max(0, len(plan["blocks"]) - _BLOCKS_SHOWN)}
