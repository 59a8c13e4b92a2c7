"""The broadcast of a plan. Each part of the plan is a separate broadcast, and the workers map its file into memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from pyspark import SparkContext
from pyspark.core.broadcast import Broadcast

from asc.plan.parts import Part, plan_of
from asc.plan.plan import Plan
from broker.failure import one_line
from broker.matching.alike import Alike
from broker.matching.destinations import Destinations
from broker.matching.host_files import host_files
from broker.matching.plan_ids import RegisteredIds

LOG = logging.getLogger("asc.plan")

_MAPPED_FROM = 64
"""The offset of a part's bytes in the file of its broadcast. Arrays are aligned to multiples of this number."""

_PLAN, _PART, _REGISTERED, _DESTINATIONS = "asc_plan", "asc_part", "asc_registered", "asc_destinations"
_EVALUATED = "asc_evaluated"
"""The last of five names of attributes in which a process caches values that it computed from a broadcast. The values
are freed with the broadcast.
"""


class PartBroadcast(Broadcast[bytes]):
    """A broadcast of bytes. The file is a pickle with padding before the bytes, so that workers can map the bytes in
    place.

    In Spark's own broadcasts, the bytes are not aligned, and each worker process reads the bytes into its own memory.
    If Spark encrypts files, Spark reads the file for the workers, as it does for all pickles. ``name``: the name under
    which the executors of a host share one mapped file; empty if there is only one executor.
    """

    def __init__(self, context: SparkContext, content: bytes) -> None:
        super().__init__(context, content, context._pickled_broadcast_vars)
        self.name = "" if (context.master or "local").startswith("local") else uuid4().hex

    def dump(self, value: bytes, f: BinaryIO) -> None:
        # The opcode PROTO 5, then a number and None pushed and popped as often as needed, BINBYTES8 with the length,
        # and STOP at the end.
        front = b"\x80\x05" + b"K\x000" + b"N0" * 25 + b"\x8e" + len(value).to_bytes(8, "little")
        assert len(front) == _MAPPED_FROM
        f.write(front)
        f.write(value)
        f.write(b".")
        f.close()


@dataclass(frozen=True, slots=True, eq=False)
class PlanParts:
    """The broadcasts of a plan's parts; the first part is the head, with the version, the options and the p-attributes
    of the plan. Only the numbers of the broadcasts travel to a worker.

    A process maps the file that Spark stored on its host and checked for damage, so all processes of the host share the
    memory. Each part is read once, even if several plans have the part. The plan is assembled once, however many tasks
    use the plan. Spark stores a file for each executor; the executors of a host map the same file, by the part's name.
    """

    broadcasts: tuple[Broadcast[bytes], ...]
    names: tuple[str, ...]

    @staticmethod
    def of(broadcasts: Iterable[Broadcast[bytes]]) -> PlanParts:
        """Return the parts in these broadcasts, with the name of each broadcast."""
        own = tuple(broadcasts)
        return PlanParts(own, tuple(getattr(broadcast, "name", "") for broadcast in own))

    @property
    def plan(self) -> Plan:
        """Return the plan, whose arrays refer to the broadcasts' bytes. Raise PlanError if the bytes are not the parts
        of a plan.
        """
        head = self.broadcasts[0]
        found: Plan | None = getattr(head, _PLAN, None)
        if found is None:
            found = plan_of(self._parts())
            setattr(head, _PLAN, found)
        return found

    @property
    def registered(self) -> RegisteredIds:
        """Return the registered query to which each query of the plan belongs."""
        head = self.broadcasts[0]
        found: RegisteredIds | None = getattr(head, _REGISTERED, None)
        if found is None:
            found = RegisteredIds.of(self.plan.query_ids)
            setattr(head, _REGISTERED, found)
        return found

    @property
    def destinations(self) -> Destinations:
        """Return the destinations to which the matches of the plan's queries are delivered."""
        head = self.broadcasts[0]
        found: Destinations | None = getattr(head, _DESTINATIONS, None)
        if found is None:
            found = Destinations.of(self.plan)
            setattr(head, _DESTINATIONS, found)
        return found

    @property
    def evaluated(self) -> tuple[Plan, Alike | None]:
        """Return the plan for the executor, in which alike queries match nothing, and the alike queries. The alike
        queries are None if the plan has none.
        """
        head = self.broadcasts[0]
        found: tuple[Plan, Alike | None] | None = getattr(head, _EVALUATED, None)
        if found is None:
            alike = Alike.of(self.plan, self.destinations.operated, self.registered)
            found = self.plan if alike is None else alike.pruned(self.plan), alike
            setattr(head, _EVALUATED, found)
        return found

    def _parts(self) -> list[Part]:
        if not any(self.names):
            return [_part_of(broadcast, _opened) for broadcast in self.broadcasts]
        with host_files() as files:
            return [
                _part_of(broadcast, partial(files.open, name))
                for broadcast, name in zip(self.broadcasts, self.names, strict=True)
            ]


def broadcasts_of(
    context: SparkContext, parts: Iterable[Part], known: Mapping[Part, Broadcast[bytes]]
) -> dict[Part, Broadcast[bytes]]:
    """Return the broadcasts of parts, in the order of the parts: broadcasts in ``known`` are reused, and the others are
    created.

    If the creation of a broadcast fails, for example on a full disk, the new broadcasts are released.
    """
    broadcasts: dict[Part, Broadcast[bytes]] = {}
    try:
        for part in parts:
            broadcasts[part] = known.get(part) or PartBroadcast(context, part.to_bytes())
    except BaseException:
        forget(broadcast for part, broadcast in broadcasts.items() if part not in known)
        raise
    return broadcasts


def forget(broadcasts: Iterable[Broadcast[bytes]]) -> None:
    """Release broadcasts on the driver, on the driver's disk and on the workers. An error of one broadcast does not
    affect the others.
    """
    for broadcast in broadcasts:
        try:
            broadcast.destroy()
        except FileNotFoundError:
            pass
        except Exception as error:
            LOG.warning("a part of a plan could not be forgotten: %s", one_line(error))


def _opened(path: Path) -> BinaryIO:
    return path.open("rb")


def _part_of(broadcast: Broadcast[bytes], opened: Callable[[Path], BinaryIO]) -> Part:
    found: Part | None = getattr(broadcast, _PART, None)
    if found is None:
        found = Part.from_bytes(_content(broadcast, opened), is_checked=True)
        setattr(broadcast, _PART, found)
    return found


def _content(broadcast: Broadcast[bytes], opened: Callable[[Path], BinaryIO]) -> bytes | memoryview:
    path: Any = getattr(broadcast, "_path", None)
    if path is None or getattr(broadcast, "_sc", None) is not None:
        return broadcast.value
    with opened(Path(path)) as file:
        mapped = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    length = int.from_bytes(mapped[_MAPPED_FROM - 8 : _MAPPED_FROM], "little")
    return mapped[_MAPPED_FROM : _MAPPED_FROM + length]
