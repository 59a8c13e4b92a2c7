"""Ids in plans. A registered query that is not a join has its own id in a plan. A join has a member for each shape, and
each member has an id in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.plan.plan import Plan, insertion_point

OF_SHAPE = "/"
"""The separator between the id of a join and that of a shape.

No query id contains the separator. So the first separator in an id ends the id of the join.
"""

OF_PAIR = "|"
"""The separator between the two ids if the join delivers a record once for each shape."""

_SEPARATOR = re.compile("[/|]")

Integers = npt.NDArray[np.signedinteger[Any]]
_Flags = npt.NDArray[np.bool_]


def member_id(join_id: str, shape_id: str, *, per_shape: bool) -> str:
    """Return the id that plans use for the member of a join for a shape. ``per_shape``: whether the join delivers a
    record once for each shape.

    >>> member_id("over", "CHE", per_shape=False), member_id("over", "a/b", per_shape=True)
    ('over/CHE', 'over|a/b')
    """
    return f"{join_id}{OF_PAIR if per_shape else OF_SHAPE}{shape_id}"


def members_in(plan: Plan, join_id: str) -> list[str]:
    """Return the ids of a join's members in a plan, in the plan's order. Cost: a binary search and a copy of the ids,
    in proportion to their number.
    """
    return [one for low, high in _places(plan, join_id) for one in plan.query_ids.slice(low, high - low).to_pylist()]


def member_count(plan: Plan, join_id: str) -> int:
    """Return the number of a join's members in a plan. Cost: a binary search."""
    return sum(high - low for low, high in _places(plan, join_id))


def join_shapes_in(plan: Plan) -> int:
    """Return the number of a plan's queries that are members of joins. Cost: a scan of the ids."""
    return int(pc.sum(pc.match_substring_regex(plan.query_ids, _SEPARATOR.pattern)).as_py() or 0)


def _places(plan: Plan, join_id: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a join's members among a plan's queries, one for each of the separators ``/`` and ``|``. A
    range is the first index and the index after the last.
    """
    for separator in (OF_SHAPE, OF_PAIR):
        beyond = join_id + chr(ord(separator) + 1)
        yield insertion_point(plan.query_ids, join_id + separator), insertion_point(plan.query_ids, beyond)


def shape_of(plan_id: str, join_id: str) -> str:
    """Return the shape id of a join's member."""
    return plan_id[len(join_id) + 1 :]


def registered_id(plan_id: str) -> str:
    """Return the id of the registered query to which an id in a plan belongs.

    >>> registered_id("over/CHE"), registered_id("late")
    ('over', 'late')
    """
    return _SEPARATOR.split(plan_id, maxsplit=1)[0]


@dataclass(frozen=True, slots=True, eq=False)
class RegisteredIds:
    """The registered query to which each query of a plan belongs.

    ``ids``: the sorted ids of the registered queries. ``owner`` int32[queries of the plan]: the index of the registered
    query in ``ids``. ``is_member`` bool[queries of the plan]: whether the query is a member of a join. ``is_pair``
    bool[queries of the plan]: whether this join delivers a record once for each shape. The arrays are None for a plan
    without joins. Each query of such a plan is itself a registered query. Invariant: the members of a join are
    consecutive in a plan. Cost: a pass over the ids for each plan, and further passes if the plan has joins.
    """

    ids: pa.StringArray
    owner: npt.NDArray[np.int32] | None = None
    is_member: _Flags | None = None
    is_pair: _Flags | None = None

    @staticmethod
    def of(plan_ids: pa.StringArray) -> RegisteredIds:
        """Return the registered queries for the ids of a plan's queries.

        >>> found = RegisteredIds.of(pa.array(["over-x", "over/A", "over/B", "plain"]))
        >>> found.ids.to_pylist(), found.owner.tolist()
        (['over', 'over-x', 'plain'], [1, 0, 0, 2])
        """
        is_member = pc.or_(pc.match_substring(plan_ids, OF_SHAPE), pc.match_substring(plan_ids, OF_PAIR))
        if not pc.any(is_member).as_py():
            return RegisteredIds(plan_ids)
        begin = pc.struct_field(pc.extract_regex(plan_ids, "(?P<begin>^[^/|]*[/|])"), "begin")
        owners = pc.coalesce(pc.utf8_slice_codeunits(begin, 0, -1), plan_ids)
        ids = pc.unique(owners)
        ids = ids.take(pc.sort_indices(ids))
        owner = pc.index_in(owners, value_set=ids).to_numpy(zero_copy_only=False).astype(np.int32)
        is_pair = pc.coalesce(pc.ends_with(begin, OF_PAIR), False)
        return RegisteredIds(ids, owner, _flags(is_member), _flags(is_pair))

    def accepted(self, rows: Integers, queries: Integers) -> Integers:
        """Return the index of the registered query of each pair that counts as an accepted record, in the order of the
        pairs.

        The pair i is the row ``rows[i]`` and the plan's query ``queries[i]``. A join is counted once for a row, or once
        for each shape if the join delivers a record once for each shape.
        """
        if self.owner is None or self.is_pair is None:
            return queries
        owners = self.owner[queries]
        counts = self.is_pair[queries]
        counts[:1] = True
        counts[1:] |= (np.diff(rows) != 0) | (np.diff(owners) != 0)
        return owners[counts]


def _flags(values: pa.BooleanArray) -> _Flags:
    found: _Flags = values.to_numpy(zero_copy_only=False)
    return found


def shape_texts(plan_ids: pa.StringArray) -> pa.StringArray:
    """Return for each member of a join a slash and the id of the shape. Return an empty text for each other query.

    >>> shape_texts(pa.array(["over/CHE", "near|a|b", "late"])).to_pylist()
    ['/CHE', '/a|b', '']
    """
    return pc.if_else(
        pc.match_substring_regex(plan_ids, "[/|]"),
        pc.replace_substring_regex(plan_ids, "^[^/|]*[/|]", "/", max_replacements=1),
        "",
    )


def header_texts(plan_ids: pa.StringArray) -> pa.StringArray:
    """Return the texts of the shape header for members of joins: ``<query>/<shape>``.

    >>> header_texts(pa.array(["over/CHE", "near|a|b"])).to_pylist()
    ['over/CHE', 'near/a|b']
    """
    return pc.replace_substring_regex(plan_ids, "^([^/|]*)[/|]", r"\1/", max_replacements=1)
