"""Tests mirror the tree: a test is found where its module is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from broker.packages import PACKAGES

ROOT = Path(__file__).parents[1]

VALUE_CLASSES = {
    "broker/stream/diagnosis/diagnosis_result.py",
    "broker/backtest/backtest_result.py",
    "broker/files/decoding.py",
    "broker/operators/cube/new_piece.py",
}
"""Modules of frozen values without behaviour: a test of their own would repeat their fields."""

WITHOUT_TESTS = {
    **dict.fromkeys(
        [
            f"broker/answers/{name}.py"
            for name in ("block", "cube", "layer", "plan", "predicate", "query", "refusal", "stream", "trace")
        ],
        "is held against the API by tests/broker/client/test_contract.py",
    ),
    **dict.fromkeys(
        [f"bench/cube_{name}.py" for name in ("fold", "http", "keeper", "pair", "register", "source", "stream")],
        "is run by tests/bench/test_cube.py",
    ),
    **dict.fromkeys(
        [f"bench/{name}.py" for name in ("cube_ageing", "cube_backfill", "cube_views", "cube_year", "history_goals")],
        "is run by tests/bench/test_history.py",
    ),
    **dict.fromkeys(
        [f"bench/dbscan_{name}.py" for name in ("ratios", "served", "sizes", "streams")],
        "is run by tests/bench/test_dbscan.py",
    ),
    **dict.fromkeys(
        [f"bench/dbscan_{name}.py" for name in ("extra_n_kernels", "own", "visits")],
        "is run by tests/bench/test_dbscan_extra_n.py",
    ),
    "broker/operators/backfill.py": "is a protocol and its values, which tests/broker/stream/test_backfill.py uses",
    "broker/operators/daemon_part.py": "is a protocol, which tests/broker/operators/test_kinds.py holds kinds to",
    "broker/files/media_types.py": "holds two names",
    **dict.fromkeys(
        [f"bench/{name}.py" for name in ("cube_sketches", "sketch_goals")], "is run by tests/bench/test_sketches.py"
    ),
    "bench/cube_rows.py": "is run by tests/bench/test_cube.py and tests/bench/test_history.py",
    "bench/cube_backfill.py": "is run by tests/bench/test_history.py",
    "broker/http/console/operators/cube_lattice_drawing.py": "is drawn by the tests of cube_lattice.py",
    "broker/http/console/operators/cube_stored.py": "is shown by tests/broker/http/console/operators/test_cube.py",
    "broker/http/console/operators/cube_proposal.py": "is shown by tests/broker/http/console/operators/test_cube.py",
    **dict.fromkeys(
        [f"broker/http/operators/{name}.py" for name in ("cube_optimiser", "cube_readable")],
        "is asked by tests/broker/http/operators/test_cube.py",
    ),
    "broker/http/trace_models.py": "is held against the client by tests/broker/client/test_contract.py",
    **dict.fromkeys(VALUE_CLASSES, "holds values that the tests of its users compare"),
    "asc/operators/times.py": "has an example that is run",
    "asc/operators/exclusions.py": "is tested by each kind of operator",
    "asc/operators/read_operand.py": "has an example that is run",
    "asc/operators/fold.py": "is a protocol, which kinds of the handoff meet",
    "asc/predicate/expressions/expression_typer.py": "is a protocol, which the type checker meets",
    "asc/predicate/type_checking/scoped_typer.py": "is a protocol, which the type checker meets",
    "asc/operators/events/event_query.py": "has an example that is run",
    "asc/operators/near/near_query.py": "has an example that is run",
    **dict.fromkeys(
        [f"asc/operators/cube/states/{name}.py" for name in ("count", "exact_sum", "extreme", "float_sum")],
        "meets tests/asc/operators/cube/states/test_contract.py",
    ),
    **dict.fromkeys(
        [f"asc/operators/cube/states/{name}.py" for name in ("doubles", "kernels", "moment_kernels", "state")],
        "is what the states are made of, which meet tests/asc/operators/cube/states/test_contract.py",
    ),
    **dict.fromkeys(
        [f"asc/operators/cube/states/{name}_kernels.py" for name in ("frequent", "seen")],
        "is what the states are made of, which meet tests/asc/operators/cube/states/test_contract.py",
    ),
    "asc/operators/cube/states/sizes.py": "has examples that are run, and is tested with the states",
    **dict.fromkeys(
        [f"asc/operators/cube/states/{name}.py" for name in ("moment_answer_kernels", "statistic_kernels")],
        "is run by tests/asc/operators/cube/states/test_statistic.py",
    ),
    "asc/operators/cube/states/regression_kernels.py": "is run by tests/asc/operators/cube/states/test_regression.py",
    **dict.fromkeys(
        [f"asc/operators/cube/states/{name}.py" for name in ("distinct_kernels", "hash_kernels")],
        "is run by tests/asc/operators/cube/states/test_distinct.py",
    ),
    "asc/operators/cube/read_columns.py": "has an example that is run",
    "asc/operators/cube/states/quantile_kernels.py": "is run by tests/asc/operators/cube/states/test_quantiles.py",
    "asc/operators/cube/states/by_cell_kernels.py": "is run by tests/asc/operators/cube/states/test_by_cell.py",
    "asc/operators/cube/states/doubles.py": "is run by tests/asc/operators/cube/states/test_moments.py",
    "asc/operators/cube/states/stored.py": "is read by tests/asc/operators/cube/states/test_binary.py",
    "asc/operators/cube/states/summary.py": "is asked by tests/asc/operators/cube/kinds/test_moments.py",
    **dict.fromkeys(
        [f"asc/operators/cube/kinds/{name}.py" for name in ("counts", "extremes", "kind", "sums")],
        "is declared and asked by tests/asc/operators/cube/kinds/test_table.py",
    ),
    "asc/operators/cube/aggregates.py": "has the names that tests/asc/operators/cube/kinds/test_table.py asks",
    "broker/answers/bounded.py": "has an example that is run",
    "asc/operators/cube/slot.py": "is filled by tests/asc/operators/cube/test_layout.py",
    **dict.fromkeys(
        [
            f"asc/operators/cube/computed/{name}.py"
            for name in ("geohash_kernels", "geohash_keys", "geohash_text", "table")
        ],
        "is run by tests/asc/operators/cube/computed/test_geohash.py",
    ),
    **dict.fromkeys(
        [f"asc/operators/cube/within/{name}.py" for name in ("box_scope", "cell_boxes", "cell_scope", "shape_scope")],
        "is run by tests/asc/operators/cube/within/test_scopes.py",
    ),
    "asc/operators/cube/within/scope.py": "is a protocol, which tests/asc/operators/cube/within/test_scopes.py runs",
    "asc/operators/cube/within/within_cells.py": "is run by tests/asc/operators/cube/within/test_within.py",
    "asc/operators/cube/computed/computed_dimension.py": "is a protocol, which kinds of the table meet",
    "asc/operators/cube/computed/bin_keys.py": "is run by tests/asc/operators/cube/computed/test_bins.py",
    "broker/queries/completion.py": "is run by tests/broker/http/test_completion.py, which has a stream with records",
    "asc/operators/cube/task_columns.py": "is tested by tests/asc/operators/cube/test_task_fold.py",
    "asc/operators/cube/kernels.py": "is run by tests/asc/operators/cube/test_grouping.py",
    **dict.fromkeys(
        (
            *("broker/operators/condition_watch.py", "broker/operators/definition.py"),
            *("broker/operators/folder.py", "broker/operators/kind.py"),
        ),
        "is a protocol, which every kind of the table meets",
    ),
    **dict.fromkeys(
        [
            f"broker/operators/cube/{name}.py"
            for name in ("cube_state", "current_snapshot", "folding", "partial", "restored", "saving", "stepping")
        ],
        "is what tests/broker/operators/cube/test_keeper.py and test_keeper_model.py run on",
    ),
    "broker/client/cubes.py": "is asked by tests/broker/http/operators/test_cube.py",
    **dict.fromkeys(
        [f"asc/operators/dbscan/{name}.py" for name in ("cell_kernels", "chain_kernels", "neighbour_kernels")],
        "meets the contract of tests/asc/operators/dbscan/test_labels.py",
    ),
    **dict.fromkeys(
        ["asc/operators/dbscan/progress.py"],
        "is what tests/asc/operators/dbscan/test_clusters.py runs on",
    ),
    "asc/operators/dbscan/window_kernels.py": "is run by tests/asc/operators/dbscan/test_identity.py",
    "asc/operators/dbscan/grid_kernels.py": "is run by tests/asc/operators/dbscan/test_grid.py",
    "cli/operators/dbscan/unwritable.py": "is run by tests/cli/operators/dbscan/test_record_file.py",
    "cli/operators/cube/dump.py": "is run by tests/broker/http/operators/test_cube.py, over cubes that hold records",
    **dict.fromkeys(
        (
            *("asc/operators/cube/revisions.py", "asc/operators/cube/windows.py"),
            "broker/operators/cube/window_saving.py",
        ),
        "is what tests/broker/operators/cube/test_window_writer.py runs on",
    ),
    **dict.fromkeys(
        (
            "asc/operators/cube/window_versions.py",
            *("broker/operators/cube/late_cells.py", "broker/operators/cube/late_windows.py"),
        ),
        "is what tests/broker/operators/cube/test_window_revisions.py runs on",
    ),
    "broker/operators/fold_sample.py": "holds values that the tests of its users compare",
    "broker/operators/cube/asked.py": "is what tests/broker/operators/cube/test_snapshot.py asks",
    "broker/operators/kept_body.py": "is the base of the states of kinds, which test_kept_state.py tries",
    "broker/operators/estimate_body.py": "is the base of the estimates of kinds, which test_estimating.py tries",
    "broker/operators/cube/last_run.py": "is run by tests/broker/operators/cube/test_optimiser_runs.py",
    "broker/operators/cube/estimate_body.py": "is what tests/broker/operators/cube/test_estimating.py compares",
    "broker/operators/kind_body.py": "is the base of the bodies of kinds, which have tests of their own",
    "broker/operators/feed_outputs.py": "is run by the tests of every reader of a feed",
    "broker/formats/decoder.py": "is the base of the decoders, which have tests of their own",
    "broker/formats/record_parser.py": "is a protocol, which test_record_decoder.py runs on",
    "broker/plans/offsets.py": "names a type, and does nothing",
    "broker/operators/operator.py": "says what the operators do, which have tests of their own",
    **dict.fromkeys(
        (
            *("tools/faults/broker_process.py", "tools/faults/node.py", "tools/faults/operators.py"),
            *("tools/faults/rig.py", "tools/faults/soak.py", "tools/faults/standing_cubes.py"),
            *("tools/faults/counted_cubes.py", "tools/faults/topic_reading.py"),
        ),
        "is what tests/tools/faults/test_faults.py runs on",
    ),
    "tools/fuzz/spark_target.py": "has an example that is run, and is what test_decoder.py and test_schemas.py run on",
    "tools/prose/finding.py": "has an example that is run",
    **dict.fromkeys(("tools/fuzz/child.py", "tools/fuzz/target.py"), "is what tests/tools/fuzz/test_watch.py runs on"),
}


def mirrored(module: Path) -> Path:
    """Where the tests of a module are."""
    name = "main" if module.name == "__main__.py" else module.stem
    return ROOT / "tests" / module.parent.relative_to(ROOT) / f"test_{name}.py"


@pytest.mark.parametrize("package", [*PACKAGES, "tools"])
def test_every_module_has_a_test_file_at_its_place(package: str) -> None:
    modules = [path for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py"]
    assert modules
    missing = {str(path.relative_to(ROOT)) for path in modules if not mirrored(path).is_file()}
    # What every exception is held to stands in one file, tests/test_errors.py.
    missing = {name for name in missing if not name.endswith("/errors.py")}
    assert missing == {name for name in WITHOUT_TESTS if name.startswith(f"{package}/")}


@pytest.mark.parametrize("module", sorted(VALUE_CLASSES))
def test_a_value_class_without_tests_has_no_behaviour(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    assert [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)] == []
