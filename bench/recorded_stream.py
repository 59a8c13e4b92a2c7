"""The stream of an experiment of the paper: all tuples, a plan with a single block with exact regions, and the regions
that each tuple visits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from asc.evaluation.regions import region_ids
from asc.frozen import frozen
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan
from monitor.sample import Sample
from workloads.synthetic import Workload


@dataclass(frozen=True, slots=True, eq=False)
class RecordedStream:
    """All tuples of an experiment and the plan of its predicates.

    For any number of queries, the plan has one block with exact regions: the paper's constructs. ``columns``: the
    columns of the plan's p-attributes. ``whole``: the regions that each tuple visits. Cost: 2 bytes per tuple and
    construct.
    """

    plan: Plan
    columns: tuple[pa.ChunkedArray, ...]
    whole: Sample

    @staticmethod
    def of(workload: Workload, tuples: pa.Table) -> RecordedStream:
        plan = compile_plan(workload.standing_queries(), CompileOptions(always_exact=True))
        columns = tuple(tuples[attribute.sql] for attribute in plan.p_attributes)
        return RecordedStream(plan, columns, Sample.of(plan.blocks[0], region_ids(plan, columns, tuples.num_rows)))

    @property
    def block(self) -> Block:
        return self.plan.blocks[0]

    def __len__(self) -> int:
        """Return the number of tuples."""
        return len(self.whole)

    def part(self, start: int, stop: int) -> Sample:
        """Return the tuples from ``start`` to before ``stop``."""
        regions = np.ascontiguousarray(self.whole.regions[:, start:stop])
        return Sample(frozen(regions), self.whole.known, self.whole.region_counts)

    def drawn(self, count: int, rng: np.random.Generator, start: int = 0, stop: int | None = None) -> Sample:
        """Draw at most ``count`` of the tuples from ``start`` to before ``stop`` uniformly, and return them in stream
        order. Without ``stop``, the tuples up to the end of the stream count.
        """
        end = len(self) if stop is None else stop
        if end - start <= count:
            return self.part(start, end)
        chosen = np.sort(rng.choice(end - start, count, replace=False)) + start
        regions = np.ascontiguousarray(self.whole.regions[:, chosen])
        return Sample(frozen(regions), self.whole.known, self.whole.region_counts)

    def after(self, start: int) -> RecordedStream:
        """Return the stream without the tuples before ``start``."""
        columns = tuple(column.slice(start) for column in self.columns)
        return RecordedStream(self.plan, columns, self.part(start, len(self)))

    def columns_between(self, start: int, stop: int) -> Sequence[pa.ChunkedArray]:
        """Return the columns of the tuples from ``start`` to before ``stop`` in the form that the executor takes."""
        return [column.slice(start, stop - start) for column in self.columns]
