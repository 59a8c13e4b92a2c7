"""Streams that are composed of tables of tuples, and figures of a table, such as the skew and the correlation of its
attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workloads.errors import WorkloadError


def alternating(parts: Sequence[pa.Table], length: int, sub_streams: int) -> pa.Table:
    """Return a stream of ``sub_streams`` sub-streams, each with ``length`` tuples of one of the ``parts``. The
    sub-streams alternate between the parts: D1, D2, D1, ...

    Each part continues after its previous sub-stream, and begins again when its tuples are used up, as the paper
    repeats its data sets.

    >>> a, b = pa.table({"x": [1, 2, 3]}), pa.table({"x": [7, 8]})
    >>> alternating([a, b], 2, 4)["x"].to_pylist()
    [1, 2, 7, 8, 3, 1, 7, 8]
    """
    if length < 1:
        raise WorkloadError("length of a sub-stream", length, "at least 1 tuple")
    if not parts or any(not part.num_rows for part in parts):
        raise WorkloadError("parts of the stream", len(parts), "at least one, and none without tuples")
    pieces = []
    for number in range(sub_streams):
        part = parts[number % len(parts)]
        begin = number // len(parts) * length
        pieces.append(part.take(np.arange(begin, begin + length) % part.num_rows))
    return pa.concat_tables(pieces).combine_chunks() if pieces else parts[0].slice(0, 0)


@dataclass(frozen=True, slots=True)
class RealisedTuples:
    """The measured figures of a table of integer tuples.

    ``top_tenth``: the share of the tuples whose value is in the most frequent tenth of the values of the attribute's
    range, as the mean over the attributes. It is 0.1 if all values are equally frequent. ``correlation``: the mean of
    the absolute correlations of all pairs of attributes. ``strongest``: the maximum of these correlations.
    """

    tuples: int
    attributes: int
    top_tenth: float
    correlation: float
    strongest: float


def realised_tuples(table: pa.Table) -> RealisedTuples:
    """Measure the figures of a table over all its tuples. The values must be integers that are not negative."""
    values: npt.NDArray[np.int64] = np.stack([column.to_numpy() for column in table.columns]).astype(np.int64)
    top = []
    for own in values:
        counts = np.sort(np.bincount(own))[::-1]
        top.append(counts[: max(1, round(len(counts) / 10))].sum() / len(own))
    # A constant attribute has no correlation with anything.
    varying = values[np.ptp(values, axis=1) > 0]
    pairs = np.abs(_correlations(varying)[np.triu_indices(len(varying), 1)]) if len(varying) > 1 else np.zeros(1)
    return RealisedTuples(
        tuples=table.num_rows,
        attributes=table.num_columns,
        top_tenth=float(np.mean(top)),
        correlation=float(pairs.mean()),
        strongest=float(pairs.max()),
    )


def _correlations(values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Compute the same as ``numpy.corrcoef``, but on one thread. The matrix product of ``numpy.corrcoef`` uses threads,
    which wait for each other on a busy machine.
    """
    scores = values - values.mean(axis=1, keepdims=True)
    scores /= np.sqrt((scores**2).sum(axis=1, keepdims=True))
    found: npt.NDArray[np.float64] = np.einsum("it,jt->ij", scores, scores)
    return found
