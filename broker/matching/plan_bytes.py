"""A plan as it is broadcast."""

from __future__ import annotations

from functools import cached_property

from asc.plan.format import from_bytes
from asc.plan.plan import Plan


class PlanBytes:
    """A plan's bytes, which a process that has them reads once, however many tasks of it match with them."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> tuple[type[PlanBytes], tuple[bytes]]:
        return PlanBytes, (self.content,)

    @cached_property
    def plan(self) -> Plan:
        """The plan, over these bytes; PlanError where they are none."""
        return from_bytes(self.content)
