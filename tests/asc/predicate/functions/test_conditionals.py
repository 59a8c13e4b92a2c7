"""Functions that choose among their arguments."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("coalesce(flag, n)", "CAST them to one type"),
        ("greatest(s, n)", "CAST them to one type"),
        ("nullif(tags, n)", "cannot be compared"),
        ("equal_null(day, ts)", "of several types"),
        ("if(n, 1, 2)", "not a condition"),
        ("nvl2(s, ts, day)", "of several types"),
        ("elt(flag, s)", "not an integer"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("coalesce(NULL, n, big)", pa.int64()),
        ("if(flag, day, NULL)", pa.date32()),
        ("nullif(s, t)", pa.string()),
        ("elt(n, s, 5)", pa.string()),
        ("elt(1, raw)", None),
        ("elt(1, raw, s)", None),
        ("typeof(tags)", pa.string()),
        ("nvl2(s, n, big)", pa.int64()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result
