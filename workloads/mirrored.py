"""A stream whose best construct order reverses over time while the share of unmatched tuples stays constant.

The predicates are symmetric: every query has a mirror image, with attribute n - 1 - i in place of attribute i. So
tuples and mirrored tuples (columns in reverse order) match equally many queries. The values of the first half of the
attributes are drawn from the whole domain, so the constructs of these attributes drop many tuples. The values of the
second half are drawn from the first quarter of the domain, so their constructs drop few tuples. For mirrored tuples,
the second half drops many tuples, and the first half drops few.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from workloads.errors import WorkloadError
from workloads.synthetic import Workload, synthetic_columns


def mirrored_workload(
    pairs: int,
    *,
    attributes: int = 20,
    domain: int = 100,
    each_half: int = 2,
    highest: tuple[float, float] = (0.05, 0.3),
    seed: int = 1,
) -> Workload:
    """Draw ``pairs`` queries and their mirror images. A query has ``each_half`` comparisons ``a <= c`` on each half of
    the attributes. The constants c are drawn from the part of the domain between the shares ``highest``.
    """
    half = attributes // 2
    if pairs < 1 or not 1 <= each_half <= half:
        raise WorkloadError("pairs and predicates", (pairs, each_half), f"at least 1, at most {half} predicates a half")
    rng = np.random.default_rng(seed)
    attribute = np.concatenate(
        [start + rng.permutation(half)[:each_half] for _ in range(pairs) for start in (0, attributes - half)]
    )
    high = rng.integers(int(highest[0] * domain), int(highest[1] * domain), len(attribute))
    owner = np.repeat(np.arange(pairs), 2 * each_half)
    return Workload(
        *synthetic_columns(attributes, domain),
        np.concatenate([owner, owner + pairs]),
        np.concatenate([attribute, attributes - 1 - attribute]),
        np.zeros(2 * len(attribute), dtype=np.int64),
        np.concatenate([high, high]),
    )


def lopsided_tuples(rows: int, *, attributes: int = 20, domain: int = 100, seed: int = 2) -> pa.Table:
    """Draw tuples. The first half of the attributes is uniform over the domain, and the second half is uniform over the
    first quarter of the domain.
    """
    rng = np.random.default_rng(seed)
    names, _ = synthetic_columns(attributes, domain)
    spans = [domain if number < attributes // 2 else max(1, domain // 4) for number in range(attributes)]
    return pa.table(
        {name: rng.integers(0, span, rows, dtype=np.int32) for name, span in zip(names, spans, strict=True)}
    )


def mirror_image(table: pa.Table) -> pa.Table:
    """Return the tuples with their values in reverse order: the first attribute has the value of the last attribute,
    and so on.
    """
    return pa.table(table.columns[::-1], names=table.schema.names)
