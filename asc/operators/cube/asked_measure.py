"""Measures of questions: declared measures, and calls of question functions over declared states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from asc.errors import CubeError, PredicateError
from asc.operators.cube.call import SUBJECT, Call, Constant, call_of, spelling
from asc.operators.cube.definition import RESERVED, CubeDefinition
from asc.operators.cube.kinds.kind import Arguments, Kind
from asc.operators.cube.kinds.table import QUESTION_FUNCTIONS, Entry, asked_by, declared_by
from asc.operators.cube.measure import Measure
from asc.spark_types import backquoted, folded

ASKED_MAX = 64
"""The largest number of measures of a question."""

_TWICE = "is named twice: name it once"


@dataclass(frozen=True, slots=True)
class AskedMeasure:
    """A measure of a question.

    ``name``: the field of a row, which ``order`` may name. ``place``: the index of the declared measure. ``function``:
    the question function that reads the state of the declared measure; empty if the question names the declared measure
    itself. ``columns``: the indices of the function's columns among the declared columns. ``constants``: the constants
    of the call. ``text``: the text from which :func:`asked_measure` returns an equal measure.
    text that :func:`asked_measure` reads as this measure.
    """

    name: str
    place: int
    function: str = ""
    columns: tuple[int, ...] = ()
    constants: tuple[Constant, ...] = ()
    text: str = ""

    def is_same(self, other: AskedMeasure) -> bool:
        """Return whether another measure has the same answers, although its name may differ."""
        return self.identity == other.identity

    @property
    def identity(self) -> tuple[object, ...]:
        """Return everything on which the answers depend: two measures with equal identities have equal answers."""
        # The types are part of the identity, because 1, 1.0 and True are equal in Python.
        types = tuple(type(constant).__name__ for constant in self.constants)
        return self.place, self.function, self.columns, self.constants, types


def asked_measures(plain: object, definition: CubeDefinition, always: Sequence[str] = ()) -> tuple[AskedMeasure, ...]:
    """Return the measures that a question names, and after them the measures ``always`` that its answer contains in any
    case. If ``plain`` is None, return all declared measures. Raise CubeError if a measure is invalid.
    """
    if plain is None:
        return tuple(_declared(measure, place) for place, measure in enumerate(definition.measures))
    if not isinstance(plain, Sequence) or isinstance(plain, str) or not plain:
        raise CubeError("measures", plain, "give a list of names of measures")
    if len(plain) > ASKED_MAX:
        raise CubeError("measures", len(plain), f"a question has at most {ASKED_MAX}: leave some out")
    measures: list[AskedMeasure] = []
    for text in plain:
        measure = asked_measure(text, definition)
        if any(own.is_same(measure) or folded(own.name) == folded(measure.name) for own in measures):
            raise CubeError(SUBJECT, text, _TWICE)
        measures.append(measure)
    for name in always:
        measure = asked_measure(name, definition)
        if not any(own.is_same(measure) for own in measures):
            measures.append(measure)
    return tuple(measures)


def asked_measure(text: object, definition: CubeDefinition) -> AskedMeasure:
    """Return the measure of a question that a text describes. The text is the name of a declared measure, or the call
    of a question function, ``f(columns, constants) [FILTER (WHERE p)] [AS name]``. Raise CubeError if the text is
    neither.

    >>> cube = CubeDefinition.parse({"measures": ["stats(temp, hum, wind) AS s"], "grain_s": 60})
    >>> asked_measure("CORR( wind,temp ) AS r", cube).text
    'corr(wind, temp) AS `r`'
    """
    names = [folded(measure.name) for measure in definition.measures]
    if isinstance(text, str) and folded(text.strip()) in names:
        place = names.index(folded(text.strip()))
        return _declared(definition.measures[place], place)
    if not isinstance(text, str) or "(" not in text:
        raise CubeError(SUBJECT, text, f"is not declared: the cube has {_names(definition)}")
    call = call_of(text, "write the name of a measure, or f(x), f(x, constant) or f(x) AS name")
    entry = asked_by(call.function)
    if entry is None:
        _refuse_function(call, definition)
    kind = entry.kind
    arguments = kind.questioned(call)
    measure = _asked_of_state(call, arguments, definition, (entry, kind))
    if call.name is not None:
        _check_name(call, definition)
    return measure


def question_examples(definition: CubeDefinition) -> list[str]:
    """Return calls of question functions that the states of a cube answer, some for each declared measure. Forms
    suggest them.

    >>> question_examples(CubeDefinition.parse({"measures": ["count(*)", "stats(temp, hum) AS s"], "grain_s": 60}))
    ['corr(temp, hum)', 'mean(temp)', 'bounds(temp, 3)', 'regression(temp, hum)']
    """
    calls: dict[str, None] = {}
    for measure in definition.measures:
        entry = declared_by(measure.function)
        if entry is not None and entry.answers:
            filter_text = "" if measure.where is None else f" FILTER (WHERE {measure.where})"
            examples = entry.kind.examples(measure)
            calls.update(dict.fromkeys(f"{example}{filter_text}" for example in examples))
    return list(calls)


def _asked_of_state(
    call: Call, arguments: Arguments, definition: CubeDefinition, source: tuple[Entry, Kind]
) -> AskedMeasure:
    """Return the call of a question function. Of the states that answer the call, choose the one with the fewest
    columns.
    """
    entry, kind = source
    columns, constants = arguments
    wanted = [_spelled(call, column) for column in columns]
    where = None if call.where is None else _spelled(call, call.where)
    places: list[tuple[int, int, tuple[int, ...]]] = []
    for place, measure in enumerate(definition.measures):
        own = [spelling(column) for column in measure.columns]
        filtered = None if measure.where is None else spelling(measure.where)
        is_of_kind = declared_by(measure.function) is entry and filtered == where
        if is_of_kind and all(column in own for column in wanted) and kind.is_answered_by(measure, columns):
            places.append((len(own), place, tuple(map(own.index, wanted))))
    if not places:
        filter_text = "" if call.where is None else f" FILTER (WHERE {call.where})"
        declaration = f"{kind.declaration(columns, constants)}{filter_text}"
        call.fail(f"needs a state that the cube does not keep: declare the measure {declaration}")
    _, place, indices = min(places)
    measure = definition.measures[place]
    text = _call_text(call, measure, indices)
    if call.name is None:
        return AskedMeasure(text, place, call.function, indices, constants, text)
    named = f"{text} AS {backquoted(call.name)}"
    return AskedMeasure(call.name, place, call.function, indices, constants, named)


def _declared(measure: Measure, place: int) -> AskedMeasure:
    return AskedMeasure(measure.name, place, text=measure.name)


def _call_text(call: Call, measure: Measure, columns: Sequence[int]) -> str:
    """Return the text of a call in its normal form: columns and FILTER as declared, constants as the call has them."""
    texts = [measure.columns[column] for column in columns]
    texts += [argument.text for argument in call.arguments[len(columns) :]]
    filter_text = "" if measure.where is None else f" FILTER (WHERE {measure.where})"
    return f"{call.function}({', '.join(texts)}){filter_text}"


def _spelled(call: Call, text: str) -> tuple[str, ...]:
    try:
        return spelling(text)
    except PredicateError as error:
        call.fail(f"{error.subject} {str(error.value)!r}: {error.remedy}")


def _check_name(call: Call, definition: CubeDefinition) -> None:
    """Raise CubeError if the name of a call is that of a declared measure, a dimension or a field of answers."""
    assert call.name is not None
    name = folded(call.name)
    remedy = "give another one with AS"
    if name in {folded(measure.name) for measure in definition.measures}:
        raise CubeError(SUBJECT, call.name, f"has the name of a declared measure: {remedy}")
    if name in set(map(folded, definition.dimensions.names)):
        raise CubeError(SUBJECT, call.name, f"has the name of a dimension: {remedy}")
    if name in RESERVED:
        raise CubeError(SUBJECT, call.name, f"is a name that answers use, as {', '.join(RESERVED)}: {remedy}")


def _refuse_function(call: Call, definition: CubeDefinition) -> NoReturn:
    entry = declared_by(call.function)
    if entry is not None:
        call.fail(f"is not declared: the cube has {_names(definition)}")
    known = ", ".join(QUESTION_FUNCTIONS)
    call.fail(f"has the function {call.function!r}, which no question has: name a measure, or one of {known}")


def _names(definition: CubeDefinition) -> str:
    return ", ".join(measure.name for measure in definition.measures)
