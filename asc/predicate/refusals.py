"""Functions of Spark that a predicate may not call, so that the refusal can say why."""

from __future__ import annotations

_AGGREGATE = """
any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and bool_or
collect_list collect_set corr count count_if covar_pop covar_samp every first first_value grouping
histogram_numeric kurtosis last last_value listagg max max_by mean median min min_by mode percentile
percentile_approx regr_count skewness some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum
var_pop var_samp variance
"""
_WINDOW = """
cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number session_window window window_time
"""
_GENERATOR = """
explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
"""
_NON_DETERMINISTIC = """
curdate current_date current_timestamp current_time localtimestamp now rand randn random randstr uniform uuid
shuffle monotonically_increasing_id spark_partition_id input_file_name input_file_block_start
input_file_block_length current_user current_catalog current_database current_schema session_user user version
current_timezone unix_timestamp
"""
_FORBIDDEN = """
reflect java_method try_reflect raise_error assert_true aes_encrypt aes_decrypt try_aes_decrypt getvariable
set_variable load_file python_udf
"""

_REFUSALS = (
    ("aggregate", "a predicate sees one record at a time", _AGGREGATE),
    ("window", "a predicate sees one record at a time", _WINDOW),
    ("generator", "a predicate gives one condition", _GENERATOR),
    ("non-deterministic", "a predicate depends on the record alone", _NON_DETERMINISTIC),
    ("forbidden", "functions that reach the JVM, files or the session are not allowed", _FORBIDDEN),
)


def refusal(name: str) -> tuple[str, str] | None:
    """What a known function that is not allowed is, and the remedy; None for a name never heard of.

    >>> refusal("reflect")
    ('forbidden', 'functions that reach the JVM, files or the session are not allowed')
    """
    for problem, remedy, names in _REFUSALS:
        if name in names.split():
            return problem, remedy
    return None
