"""A mixed workload of many subscribers: strings of few popular and many rare values, numbers, booleans, and
conjunctions of equalities, lists and ranges.

Everything is reproducible from a seed. A :class:`MixedWorkload` has the same predicates as SQL, in normal form, and as
ranges of codes for contenders that support only integers. Tuples come with their codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval, Key
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from workloads.synthetic import Integers, Values

ZIPF_VALUES = (100, 200, 400, 800, 1_500, 3_000, 6_000, 10_000)
"""The numbers of distinct values of the string attributes. The value of rank r is drawn with a chance proportional to 1
/ r.
"""

_FEW_VALUES = (5, 12)
_DOMAIN = 1_000_000
_NUMBERS = ("uniform", "uniform", "uniform", "log-normal", "log-normal", "log-normal", "normal", "normal")
_PREDICATES = (2, 5)
_LIST = (2, 8)
_NUMBER_SHARE, _BOOLEAN_SHARE, _LIST_SHARE = 0.31, 0.06, 0.29
"""The shares of number comparisons, booleans and lists among the predicates. All others are equalities of strings."""

_ROUND = 0.7
_ROUND_TO = 1_000
_SAMPLE = 100_000
_WIDEST = 0.44
"""The largest share of a number's values that a comparison accepts. The share of a comparison is drawn uniformly from 0
to this value.
"""

Draw = Callable[[np.random.Generator, int], Integers]
"""A function that draws as many codes as its second argument says."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute of the tuples. ``values``: the value of each code; None for a number attribute, whose codes are the
    numbers themselves. ``draw``: a function that draws codes from the distribution of the attribute.
    """

    name: str
    type: pa.DataType
    values: tuple[str | bool, ...] | None
    draw: Draw

    def key(self, code: int) -> Key:
        """Return the value of a code as a key, the form in which constraints contain constants."""
        if self.values is None:
            return code
        value = self.values[code]
        return int(value) if isinstance(value, bool) else value.encode()

    def literal(self, code: int) -> str:
        """Return the value of a code as an SQL literal."""
        if self.values is None:
            return str(code)
        value = self.values[code]
        return str(value).lower() if isinstance(value, bool) else f"'{value}'"

    def array(self, codes: Integers) -> pa.Array:
        """Return the values of the codes as an Arrow array."""
        if self.values is None:
            return pa.array(codes.astype(np.int32))
        return pa.array(list(self.values), self.type).take(pa.array(codes))


@dataclass(frozen=True, slots=True, eq=False)
class MixedWorkload:
    """A set of queries, each a conjunction of predicates over the 20 ``attributes``.

    Predicate i belongs to query ``owner[i]``. It holds if the code of ``attribute[i]`` is in one of the closed ranges
    ``low[j]`` .. ``high[j]`` for j from ``first[i]`` to before ``first[i + 1]``. The ranges of a predicate are disjoint
    and ascending. All arrays are int64 and ordered by query. No query has two predicates on the same attribute.
    """

    attributes: tuple[Attribute, ...]
    owner: Integers
    attribute: Integers
    first: Integers
    low: Integers
    high: Integers

    @property
    def queries(self) -> int:
        return int(self.owner[-1]) + 1

    def texts(self) -> list[str]:
        """Return the predicate of each query as SQL."""
        terms: list[list[str]] = [[] for _ in range(self.queries)]
        for owner, attribute, ranges in self._predicates():
            terms[owner].append(_text(attribute, ranges))
        return [" AND ".join(own) for own in terms]

    def standing_queries(self) -> list[Query]:
        """Return the queries ``q000000``, ... with their predicates in normal form."""
        columns = {each.name: PAttribute(each.name, each.type, (each.name,)) for each in self.attributes}
        conjuncts: list[list[tuple[PAttribute, Constraint]]] = [[] for _ in range(self.queries)]
        for owner, attribute, ranges in self._predicates():
            intervals = tuple(_interval(attribute, low, high) for low, high in ranges)
            conjuncts[owner].append((columns[attribute.name], Constraint(intervals)))
        return [
            Query(f"q{number:06d}", Predicate("", (tuple(own),)), f"out-{number % 10}")
            for number, own in enumerate(conjuncts)
        ]

    def schema(self) -> pa.Schema:
        return pa.schema([(each.name, each.type) for each in self.attributes])

    def tuples(self, rows: int, seed: int = 2) -> tuple[pa.Table, Values]:
        """Draw ``rows`` tuples. Return the tuples, and their codes int32[attributes, rows]."""
        rng = np.random.default_rng(seed)
        codes = [each.draw(rng, rows) for each in self.attributes]
        arrays = [each.array(own) for each, own in zip(self.attributes, codes, strict=True)]
        return pa.table(arrays, schema=self.schema()), np.stack(codes).astype(np.int32)

    def _predicates(self) -> Iterator[tuple[int, Attribute, Sequence[tuple[int, int]]]]:
        ranges = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        first = self.first.tolist()
        for i, (owner, attribute) in enumerate(zip(self.owner.tolist(), self.attribute.tolist(), strict=True)):
            yield owner, self.attributes[attribute], ranges[first[i] : first[i + 1]]


def mixed_workload(queries: int, *, seed: int = 1) -> MixedWorkload:
    """Draw queries of 2 to 5 predicates, of which 40 % are equalities, 29 % lists and 31 % comparisons of numbers.

    A list has 2 to 8 distinct values. Of the comparisons 30 % are ``>=``, 30 % ``<=`` and 40 % ``BETWEEN``; 70 % of the
    constants are round. Values that are frequent in tuples are also frequent in queries. On average, about 0.9 % of the
    queries accept a tuple.
    """
    rng = np.random.default_rng(seed)
    attributes = _attributes()
    counts = rng.integers(_PREDICATES[0], _PREDICATES[1] + 1, queries)
    owner = np.repeat(np.arange(queries), counts)
    attribute = different_places(rng, counts, _weights(attributes))
    # Constants are drawn from the values of tuples, so popular values are drawn more often.
    drawn = [np.sort(each.draw(rng, _SAMPLE)) for each in attributes]
    of: list[Integers] = []
    low: list[Integers] = []
    high: list[Integers] = []
    for place, (each, values) in enumerate(zip(attributes, drawn, strict=True)):
        which = np.flatnonzero(attribute == place)
        if each.values is None:
            of.append(which)
            for bounds, own in zip((low, high), _comparisons(rng, values, len(which)), strict=True):
                bounds.append(own)
        else:
            points = _points(rng, values, which, lists=pa.types.is_string(each.type))
            of.append(points[:, 0])
            low.append(points[:, 1])
            high.append(points[:, 1])
    predicates = np.concatenate(of)
    order = np.argsort(predicates, kind="stable")
    first = np.searchsorted(predicates[order], np.arange(len(owner) + 1))
    return MixedWorkload(attributes, owner, attribute, first, np.concatenate(low)[order], np.concatenate(high)[order])


def _attributes() -> tuple[Attribute, ...]:
    strings = [Attribute(f"s{i}", pa.string(), _texts(count), _zipf(count, i)) for i, count in enumerate(ZIPF_VALUES)]
    few = [Attribute(f"k{i}", pa.string(), _texts(count), _evenly(count)) for i, count in enumerate(_FEW_VALUES)]
    numbers = [Attribute(f"n{i}", pa.int32(), None, _DRAWS[kind]) for i, kind in enumerate(_NUMBERS)]
    booleans = [Attribute(f"b{i}", pa.bool_(), (False, True), _evenly(2)) for i in range(2)]
    return (*strings, *numbers, *booleans, *few)


def _texts(count: int) -> tuple[str, ...]:
    return tuple(f"value-{number:05d}" for number in range(count))


def _zipf(count: int, seed: int) -> Draw:
    # Assign the ranks of popularity to the sorted values at random, so that popular values are not neighbours.
    places = np.random.default_rng(seed).permutation(count)
    chances = 1 / np.arange(1, count + 1)
    bounds = np.cumsum(chances / chances.sum())
    return lambda rng, rows: places[np.minimum(np.searchsorted(bounds, rng.random(rows)), count - 1)]


def _evenly(count: int) -> Draw:
    return lambda rng, rows: rng.integers(0, count, rows)


def _log_normal(rng: np.random.Generator, rows: int) -> Integers:
    return np.minimum(0.05 * _DOMAIN * np.exp(rng.standard_normal(rows)), _DOMAIN - 1).astype(np.int64)


def _normal(rng: np.random.Generator, rows: int) -> Integers:
    values = 0.5 * _DOMAIN + 0.15 * _DOMAIN * rng.standard_normal(rows)
    return np.clip(values, 0, _DOMAIN - 1).astype(np.int64)


_DRAWS: Mapping[str, Draw] = {"uniform": _evenly(_DOMAIN), "log-normal": _log_normal, "normal": _normal}


def _weights(attributes: Sequence[Attribute]) -> npt.NDArray[np.float64]:
    """Return, for each attribute, the weight with which a predicate chooses the attribute."""
    shares = {"number": _NUMBER_SHARE, "boolean": _BOOLEAN_SHARE}
    kinds = [_kind(each) for each in attributes]
    rest = 1 - sum(shares.values())
    return np.array([shares.get(kind, rest) / kinds.count(kind) for kind in kinds])


def _kind(attribute: Attribute) -> str:
    if attribute.values is None:
        return "number"
    return "boolean" if pa.types.is_boolean(attribute.type) else "text"


def different_places(rng: np.random.Generator, counts: Integers, weights: npt.NDArray[np.float64]) -> Integers:
    """Draw ``counts[i]`` different indices into the weights for query i, and return the indices query by query.
    ``weights`` has one row for all queries, or one row per query.
    """
    # The indices of the greatest of these random numbers are a weighted random sample without replacement.
    places = weights.shape[-1]
    order = np.argsort(-(np.log(weights) + rng.gumbel(size=(len(counts), places))), axis=1)
    return order[np.arange(places) < counts[:, None]]


def _comparisons(rng: np.random.Generator, values: Integers, count: int) -> tuple[Integers, Integers]:
    """Draw ``count`` ranges of numbers, most of them with round bounds. Return the lower and the upper bounds. The
    share of ``values`` that a range accepts is drawn uniformly.
    """
    share = rng.uniform(0, _WIDEST, count)
    form = rng.choice(3, count, p=(0.3, 0.3, 0.4))
    start = np.select([form == 0, form == 1], [1 - share, 0.0], rng.random(count) * (1 - share))
    places = ((place * len(values)).astype(np.int64) for place in (start, start + share))
    low, high = (values[np.minimum(place, len(values) - 1)] for place in places)
    is_round = rng.random(count) < _ROUND
    low, high = (np.where(is_round, own // _ROUND_TO * _ROUND_TO, own) for own in (low, high))
    low, high = np.where(form == 1, 0, low), np.where(form == 0, _DOMAIN - 1, high)
    return low, np.maximum(low, high)


def _points(rng: np.random.Generator, values: Integers, which: Integers, *, lists: bool) -> Integers:
    """Draw codes from ``values`` for the predicates ``which``: one code for an equality, and several codes for a list.
    Return the distinct (predicate, code) pairs, sorted.
    """
    wanted = np.ones(len(which), dtype=np.int64)
    if lists:
        is_list = rng.random(len(which)) < _LIST_SHARE / (1 - _NUMBER_SHARE - _BOOLEAN_SHARE)
        wanted = np.where(is_list, rng.integers(_LIST[0], _LIST[1] + 1, len(which)), 1)
    codes = values[rng.integers(0, len(values), int(wanted.sum()))]
    return np.unique(np.stack([np.repeat(which, wanted), codes], axis=1), axis=0)


def _text(attribute: Attribute, ranges: Sequence[tuple[int, int]]) -> str:
    if attribute.values is not None:
        listed = ", ".join(attribute.literal(low) for low, _ in ranges)
        return f"{attribute.name} = {listed}" if len(ranges) == 1 else f"{attribute.name} IN ({listed})"
    ((low, high),) = ranges
    if low == 0:
        return f"{attribute.name} <= {high}"
    return f"{attribute.name} >= {low}" if high == _DOMAIN - 1 else f"{attribute.name} BETWEEN {low} AND {high}"


def _interval(attribute: Attribute, low: int, high: int) -> Interval:
    if pa.types.is_boolean(attribute.type):
        return ((1, 0), None) if low else (None, (0, 1))
    if attribute.values is not None:
        return (attribute.key(low), 0), (attribute.key(high), 1)
    return None if low == 0 else (low, 0), None if high == _DOMAIN - 1 and low else (high, 1)
