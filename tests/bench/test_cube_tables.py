"""Roll-ups of contenders in one form: merged, and told apart by any value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from bench.cube_tables import check_equal, rolled_up

KEYS = ("region",)


def parts(**changed: Any) -> pa.Table:
    columns = {
        "region": ["a", None, "a"],
        "records": [1, 2, 3],
        "amounts": [5, None, 7],
        "least": [5, None, 1],
        "most": [5, None, 6],
        "turnover": [0.1, 0.2, 0.3],
    }
    return pa.table({**columns, **changed})


def test_groups_that_come_several_times_are_one() -> None:
    found = rolled_up(parts(), KEYS).to_pylist()
    assert [(row["region"], row["records"], row["amounts"]) for row in found] == [("a", 4, 12), (None, 2, None)]
    assert (found[0]["least"], found[0]["most"]) == (1, 6)


def test_a_sum_of_nothing_may_be_0_and_the_order_of_a_sum_of_doubles_any() -> None:
    own = rolled_up(parts(), KEYS)
    check_equal("same", own, rolled_up(parts(amounts=[5, 0, 7], turnover=[0.3, 0.2, 0.1]), KEYS), KEYS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"region": ["a", "b", "a"]}, "the values of region differ"),
        ({"region": ["a", None, None]}, "records differ"),
        ({"region": ["a", None, "c"]}, "2 groups, and 3"),
        ({"records": [1, 2, 4]}, "records differ"),
        ({"amounts": [5, None, 8]}, "amounts differ"),
        ({"least": [5, 0, 1]}, "least differ"),
        ({"turnover": [0.1, 0.2, 0.300001]}, "turnover differ"),
    ],
)
def test_any_other_value_is_told(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        check_equal("other", rolled_up(parts(), KEYS), rolled_up(parts(**changed), KEYS), KEYS)
