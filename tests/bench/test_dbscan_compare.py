"""Labels of two contenders: compared before a figure is printed."""

from __future__ import annotations

import numpy as np
import pytest

from asc.operators.dbscan.chains import Labels
from bench.dbscan_compare import check_equal, check_variation, differing

OWN = Labels(
    np.array([0, 0, 0, 1, 1, -1, 1], dtype=np.int32), np.array([True, True, False, True, True, False, False]), 2
)


def test_equal_labels_pass_and_others_are_counted() -> None:
    check_equal("peer", OWN, OWN.labels)
    with pytest.raises(RuntimeError, match="peer: 1 of 7 labels differ"):
        check_equal("peer", OWN, np.array([0, 0, 0, 1, 1, -1, 0]))


def test_other_numbers_are_no_difference_but_other_borders_are() -> None:
    assert differing("peer", OWN, np.array([7, 7, 7, 2, 2, -1, 2])) == 0
    assert differing("peer", OWN, np.array([7, 7, 2, 2, 2, -1, -1])) == 2
    assert differing("peer", OWN, np.array([1, 1, 1, 0, 0, 0, 0])) == 1


@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0, -1, 0], [0, 1, 0, 2, 2, -1, 2], [0, 0, 0, 1, -1, -1, 1]])
def test_clusters_that_are_joined_divided_or_lost_are_refused(labels: list[int]) -> None:
    with pytest.raises(RuntimeError, match="core points are in other clusters"):
        differing("peer", OWN, np.array(labels))


def test_queries_that_find_too_much_alike_are_refused() -> None:
    assert check_variation("case", [2, 10]) == 5
    with pytest.raises(RuntimeError, match="case: its queries find 2 to 9 clusters"):
        check_variation("case", [2, 9])
