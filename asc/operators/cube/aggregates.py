"""The names of the statistics of one column and of two, which are those of Spark."""

from __future__ import annotations

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
