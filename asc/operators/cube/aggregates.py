"""The names of the aggregate functions of measures, and how many arguments each takes."""

from __future__ import annotations

SIMPLE = ("count", "sum", "avg", "min", "max")
"""The functions that are not computed from co-moments. ``count`` also takes ``*``."""
OF_ONE_COLUMN = ("var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev")
"""The statistics of one column, computed from its co-moments."""
OF_TWO_COLUMNS = (
    "covar_pop",
    "covar_samp",
    "corr",
    "regr_count",
    "regr_slope",
    "regr_intercept",
    "regr_r2",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "regr_avgx",
    "regr_avgy",
)
"""The statistics of two columns, computed from their co-moments. The first argument is y, as in Spark."""
FUNCTIONS = (*SIMPLE, *OF_ONE_COLUMN, *OF_TWO_COLUMNS)
"""The functions of measures."""


def is_statistic(function: str) -> bool:
    """Return whether a function is computed from co-moments.

    >>> is_statistic("corr"), is_statistic("avg")
    (True, False)
    """
    return function in OF_ONE_COLUMN or function in OF_TWO_COLUMNS
