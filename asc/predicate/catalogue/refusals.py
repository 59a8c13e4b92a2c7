"""The functions of Spark that a predicate may not call, each with a reason and a remedy for the error message."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from asc.predicate.functions import FUNCTIONS

_RECORD = "a predicate sees one record at a time"
_SESSION = "a predicate depends only on the record"
_CLOCK = f"{_SESSION}, not on the clock: compare with a constant, or with _timestamp, the time of the record"
_REACH = "functions that reach the JVM, files or the session are not allowed"
_SKETCH = "Spark throws an exception for bytes that are not a sketch"
_PACKAGE = "it needs a package that the broker does not have"

_GROUPS: tuple[tuple[str, str, str], ...] = (
    (
        "aggregate",
        _RECORD,
        """
        any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor
        bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if
        count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
        hll_sketch_agg hll_union_agg kurtosis last last_value listagg max max_by mean median min min_by mode
        percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept
        regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop
        stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance
        """,
    ),
    (
        "window",
        _RECORD,
        """
        cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number session_window window window_time
        """,
    ),
    (
        "generator",
        "it returns several rows, and a predicate returns one value for each record",
        """
        collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range sql_keywords
        stack variant_explode variant_explode_outer
        """,
    ),
    ("non-deterministic", _CLOCK, "curdate current_date current_timestamp localtimestamp now"),
    (
        "non-deterministic",
        _SESSION,
        """
        current_catalog current_database current_schema current_timezone current_user input_file_block_length
        input_file_block_start input_file_name monotonically_increasing_id rand randn random randstr session_user
        shuffle spark_partition_id uniform user uuid version
        """,
    ),
    (
        "forbidden",
        _REACH,
        """
        assert_true java_method raise_error reflect try_reflect
        """,
    ),
    ("throwing", _SKETCH, "hll_sketch_estimate hll_union"),
    ("unsupported", _PACKAGE, "from_avro from_protobuf schema_of_avro to_avro to_protobuf"),
    ("unsupported", "write CASE WHEN", "when"),
)

_LANGUAGE_LIST = """
! != % & * + - / < << <= <=> <> = == > >= >> >>> ^ | || ~ aggregate and between bigint binary boolean case cast collate
date date_part datepart decimal div double exists extract filter float forall ilike in int like map_filter map_zip_with
not or reduce smallint string struct timestamp tinyint transform transform_keys transform_values zip_with
"""
LANGUAGE = frozenset(_LANGUAGE_LIST.split())
"""Entries of Spark's list of functions that are part of the grammar of predicates: operators, casts, lambdas."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a function is refused, and the remedy that the error message suggests."""

    problem: str
    remedy: str


REFUSALS: Mapping[str, Refusal] = MappingProxyType(
    {name: Refusal(problem, remedy) for problem, remedy, names in _GROUPS for name in names.split()}
)
"""The functions of Spark that a predicate may not call, by lower-case name."""


def refusal(name: str, others: Iterable[str] = ()) -> tuple[str, str]:
    """Return the reason why a predicate may not call the function ``name``, and the remedy.

    If no function has this name, the remedy suggests a similar name. ``others`` are the names of allowed functions that
    are not functions of Spark.

    >>> refusal("reflect")
    ('forbidden function', 'functions that reach the JVM, files or the session are not allowed')
    >>> refusal("lenght")
    ('unknown function', "did you mean 'length'?")
    """
    found = REFUSALS.get(name)
    if found is not None:
        return f"{found.problem} function", found.remedy
    near = difflib.get_close_matches(name[:100], [*FUNCTIONS, *others], n=1, cutoff=0.8)
    return "unknown function", f"did you mean {near[0]!r}?" if near else "'asc functions' lists those that are allowed"
