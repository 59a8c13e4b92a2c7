"""The page of limits: every bound of the code is on it or bounds no input, and has a test that meets it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from cli.bounds import Bound, bound_groups
from cli.reference import BOUNDS

ROOT = BOUNDS.parents[2]
ROWS = [bound for group in bound_groups(BOUNDS) for bound in group.bounds]

NO_INPUT = frozenset(
    {
        # The ranges of numbers.
        *("asc.keys.grid:KEY_MAX", "asc.plan.conjuncts:_NARROW_MAX", "asc.plan.conjuncts:SLOTS_MAX"),
        *("asc.predicate.expressions.common_type:_MAX_PRECISION", "asc.predicate.syntax.interval:_MAX_MONTHS"),
        *("asc.predicate.functions.number_formats:_MAX_DIGITS", "broker.client.connection:_PORT_MAX"),
        *("broker.http.console.query_list:_COUNT_MAX", "broker.files.plain_rows:_DECIMAL_DIGITS_MAX"),
        "broker.files.input_files:_GZIP_RATIO_MAX",
        "asc.operators.cube.states.moment_kernels:WORDS_MAX",
        "asc.operators.cube.states.moment_kernels:_EXPONENT_MAX",
        # Choices between two ways with the same answer.
        *("asc.keys.grid:REGIONS_MAX", "asc.predicate.expressions.constant_text:_MAX_CHARS"),
        "asc.predicate.functions.inferred_schema:_MAX_CHARS",
        *(
            "broker.backtest.plain_backtest:_PAIRS_MAX",
            "broker.files.type_guess:_DEPTH_MAX",
            "broker.importers.bboxdb_plan:_CHARS_MAX",
        ),
        # Memories, which forget.
        *("asc.predicate.normal_form.plain_reader:_FORMS_MAX", "asc.predicate.normal_form.plain_reader:_TERMS_MAX"),
        *("broker.monitoring.stream_monitor:_WAITING_MAX", "broker.operators.cube.folder:_PREPARED_MAX"),
        "broker.matching.record_times:_BINS_MAX",
        *("broker.stream.analyser:_ACCEPTED_MAX", "broker.stream.analyser:_CONFIRMED_MAX"),
        "broker.stream.metrics.delivery_counts:_ENTRIES_MAX",
        # What an answer shows.
        *(
            "broker.http.layer_routes:_REFUSED_MAX",
            "broker.http.trial:SHOWN_MAX",
            "broker.http.stream_metrics:BLOCKS_MAX",
        ),
        # Requests and attempts of the broker and of its commands.
        *("broker.kafka.batch_sender:RECORDS_MAX", "broker.kafka.batch_sender:BYTES_MAX"),
        "broker.kafka.batch_sender:_RECORD_BYTES_MAX",
        *("broker.client.connection:_PAGE_MAX", "broker.stream.diagnosis.condition_diagnosis:_SEARCHES_MAX"),
        *("broker.stream.diagnosis.poison_search:_TRIALS_MAX", "cli.demo.rate:ROUNDS_MAX", "cli.demo.rate:COPIES_MAX"),
        # Terms of bounds that are on the page.
        *("asc.predicate.regex.backtracking:_MAX_WORK", "asc.predicate.functions.strings:_MAX_REPLACEMENT_CHARS"),
        *("asc.predicate.functions.collections:_MAX_REPEATED", "asc.predicate.functions.collections:_MAX_PLACE"),
        *("asc.predicate.functions.joining:_MAX_SEPARATOR", "asc.predicate.functions.variants:_MAX_TYPE_CHARS"),
        *("asc.predicate.functions.xml_documents:_MAX_WIDE_STEPS", "asc.predicate.type_checking.lambdas:_MAX_LITERAL"),
        *("broker.formats.avro_levels:_JSON_LEVELS_MAX", "broker.formats.avro_levels:_TYPES_MAX"),
        *(
            "asc.predicate.type_checking.lambdas:_MAX_SHORT",
            "asc.predicate.type_checking.lambdas:_MAX_LENGTH",
            "asc.spatial.reading:VERTICES_MAX",
        ),
        *(
            "broker.http.join_routes:_PAGE_MAX",
            "broker.http.layer_routes:_PAGE_MAX",
            "broker.http.last_matches:_BYTES_MAX",
        ),
        *("broker.http.console.dead_letters:_BYTES_MAX", "broker.http.console.tracing:_BYTES_MAX"),
    }
)
"""Constants that are called a maximum and are none of an input."""


def named_maximum() -> Iterator[str]:
    """Yield the constants of the product whose name says that they are a maximum, as ``module:NAME``."""
    for package in ("asc", "broker", "cli"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for statement in ast.parse(path.read_text(encoding="utf-8")).body:
                if not isinstance(statement, ast.Assign | ast.AnnAssign):
                    continue
                target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                if isinstance(target, ast.Name) and re.search(r"(^|_)(MAX|LONGEST|DEEPEST)(_|$)", target.id):
                    yield f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}:{target.id}"


def test_every_maximum_is_on_the_page_or_bounds_no_input() -> None:
    assert {*named_maximum()} - {bound.place for bound in ROWS} == NO_INPUT


@cache
def module_of(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def reached(path: str, test: str) -> Iterator[ast.stmt]:
    """Yield the statements of a module that a test is made of: its own, and constants, fixtures and functions in it."""
    statements = {name: own for own in module_of(path).body for name in _defined(own)}
    names, seen = [test], set[int]()
    while names:
        statement = statements.get(names.pop())
        if statement is not None and id(statement) not in seen:
            seen.add(id(statement))
            yield statement
            for node in ast.walk(statement):
                names += [node.id] if isinstance(node, ast.Name) else [node.arg] if isinstance(node, ast.arg) else []


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def numbers(node: ast.AST) -> Iterator[float]:
    """Yield the numbers of an expression, shifts and products worked out, and those in its texts."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) in (int, float):
            yield part.value
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield from (float(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]{0,20}(?:\.\d+)?", part.value))
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift | ast.Mult):
            left, right = part.left, part.right
            values = [side.value for side in (left, right) if isinstance(side, ast.Constant)]
            match values:
                case [int(first), int(second)]:
                    yield first << second if isinstance(part.op, ast.LShift) else first * second


def meets(bound: Bound) -> bool:
    """Return whether the source of a bound's test has the name of the bound, its key, or its value or one beyond."""
    path, _, name = bound.test.partition("::")
    own = list(reached(path, name))
    text = "\n".join(map(ast.unparse, own))
    key = (bound.key or "").rpartition(".options.")[2] if ".options." in (bound.key or "") else bound.key
    names = [re.split("[:.]", bound.place)[-1], *([key.rpartition(".")[2] if key == bound.key else key] if key else [])]
    if any(re.search(rf"\b{re.escape(word)}\b", text) for word in names):
        return True
    # A small number is in every test.
    found = {number for statement in own for number in numbers(statement)}
    return bound.value > _TELLING and not found.isdisjoint((bound.value, bound.value + 1))


_TELLING = 16
"""A value up to this is no sign that a test meets it: the test has the bound's name then."""


@pytest.mark.parametrize("bound", ROWS, ids=lambda bound: bound.place)
def test_a_bound_has_a_value_and_a_test_that_meets_it(bound: Bound) -> None:
    assert bound.value > 0
    path, _, name = bound.test.partition("::")
    assert name in {name for own in module_of(path).body for name in _defined(own)}, f"{bound.test}: is not there"
    assert meets(bound), f"{bound.place}: {bound.test} has neither its name nor its key nor {bound.value:g}"


def test_a_test_without_the_bound_does_not_meet_it() -> None:
    def of(test: str) -> Bound:
        return Bound(
            "a file",
            "broker.whole_file:QUERIES_BYTES_MAX",
            "bytes",
            "",
            f"tests/broker/files/test_bounded_file.py::{test}",
        )

    assert meets(of("test_the_files_of_a_folder_are_bounded_together"))
    assert not meets(of("test_lines_of_other_systems_are_lines"))


def test_a_measure_is_on_the_page_once() -> None:
    for group in bound_groups(BOUNDS):
        measures = [bound.measure for bound in group.bounds]
        assert len(set(measures)) == len(measures)


def test_a_place_that_holds_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="name a number"):
        Bound("a body", "broker.http.models:JSON_MAX_BYTES.real.as_integer_ratio", "bytes", "413", "").value  # noqa: B018
