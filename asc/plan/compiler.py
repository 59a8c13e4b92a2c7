"""The compiler: makes a plan from queries, and the next plan from a plan and a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from asc.errors import PlanError
from asc.frozen import frozen_int32
from asc.keys.attribute import PAttribute
from asc.keys.dictionary import Dictionary
from asc.keys.grid import KEY_MAX, KEY_MIN, Grid, Keys
from asc.plan.block import LINE, WORD, build_block, used_slots
from asc.plan.conjuncts import SLOTS_MAX, ConjunctTable, Integers, encoded, joined, translated, used_constants
from asc.plan.destination import DestinationTable
from asc.plan.dictionary_relabel import with_free_labels
from asc.plan.grouping import grouped
from asc.plan.index_choice import IndexChoice, split
from asc.plan.pattern_bounds import fit_beside, found_in, patterns_of
from asc.plan.placement import placed, words_of
from asc.plan.plan import CompileOptions, Matched, Plan, Query, insertion_point
from asc.plan.plan_delta import PlanDelta
from asc.plan.posting_block import ListedBlock, merged
from asc.plan.posting_block import changed as listed_after

_STALE_SLOTS = 8

_MANY_QUERIES = 1_000
"""The least number of queries for which look-up tables of the dictionaries are built. For fewer queries, searching the
dictionaries is faster.
"""


def compile_plan(queries: Iterable[Query], options: CompileOptions | None = None, version: int = 0) -> Plan:
    """Return the plan of a set of queries. Raise PlanError if an id occurs twice or a bound is exceeded."""
    ordered = sorted(queries, key=lambda query: query.id)
    for before, after in pairwise(ordered):
        if before.id == after.id:
            raise PlanError("query id given twice", after.id, "every query needs an id of its own")
    attributes = _attributes(ordered)
    slots = {attribute: slot for slot, attribute in enumerate(attributes)}
    delta = PlanDelta.of(ordered, 0)
    dictionaries = {slot: Dictionary.of(constants) for slot, constants in delta.byte_constants(slots).items()}
    labels = _labels(dictionaries, len(ordered))
    table = encoded(delta.conjuncts, slots, labels)
    topics = pa.array([query.topic for query in ordered], pa.string()).dictionary_encode()
    return _assembled(
        _Queries(
            pa.array([query.id for query in ordered], pa.string()),
            np.arange(len(ordered), dtype=np.int32),
            topics.dictionary,
            topics.indices.to_numpy().astype(np.int32),
            DestinationTable.of([query.destination for query in ordered]),
            _handles(ordered, 0, match_all=True),
            _handles(ordered, 0, match_all=False),
        ),
        tuple(attributes),
        dictionaries,
        table,
        options=options or CompileOptions(),
        version=version,
        listed=delta.listed,
    )


def change_plan(
    plan: Plan,
    add: Iterable[Query] = (),
    remove: Iterable[str] = (),
    version: int | None = None,
    *,
    postpones: bool = False,
) -> Plan:
    """Return the plan with queries added and removed. An added query replaces the query with the same id.

    Both plans share the blocks without changed queries. An added listed block is merged with listed blocks that are not
    much larger. The regions of all p-attributes stay the same. So a new constant is no boundary of a region, and the
    constraints with this constant need verification. The whole plan is compiled anew, from the constraints in the old
    plan, if

    - the plan is one block of exact regions, as small plans are: so such plans stay exactly those of the paper. If the
      plan also has listed blocks, only the block of exact regions is compiled anew;
    - ``rebuild_share`` of the queries change at once;
    - more than that share of the queries has changed since the whole plan was last compiled. So at most that share of
      the queries has constants that are no boundaries of regions, and at most that share of the bits is unused;
    - the plan has more than eight p-attributes that no query uses any more.

    With ``postpones``, the last two cases do not compile the plan anew: the caller does so later with :func:`renewed`.
    If a dictionary has no free label between two constants, its labels are assigned anew in all tables, and the bitmaps
    stay. Cost otherwise: a copy of the changed blocks and of the tables of ids. Raise PlanError for an unknown id in
    ``remove``, for an id that is added twice, and if a bound is exceeded. The old plan never changes.
    """
    added = sorted(add, key=lambda query: query.id)
    for before, after in pairwise(added):
        if before.id == after.id:
            raise PlanError("query id given twice", after.id, "every query needs an id of its own")
    gone = set(remove)
    for query_id in sorted(gone):
        if query_id not in plan:
            raise PlanError("unknown query", query_id, "it is not in the plan")
    gone |= {query.id for query in added if query.id in plan}
    number = plan.version + 1 if version is None else version
    changed = _changed(plan, added, gone, number)
    if changed is None or (is_renewal_due(changed) and not postpones):
        return _rebuilt_with(plan, added, _kept(plan, gone), number)
    return changed


def is_renewal_due(plan: Plan) -> bool:
    """Return True if a plan has changed so much that it should be compiled anew as a whole. The last two cases of
    :func:`change_plan` say when.
    """
    if _is_exact_block(plan) and not plan.listed:
        return False
    used = {plan.p_attributes[slot] for slot in used_slots(plan.blocks)}
    stale = len(plan.p_attributes) - len(used.union(*(block.attributes for block in plan.listed)))
    return plan.changes > plan.options.rebuild_share * len(plan) or stale > _STALE_SLOTS


def renewed(plan: Plan) -> Plan:
    """Return a plan of the same queries, compiled from scratch. The constraints in the plan are the input; the texts of
    the predicates are not needed.
    """
    return _rebuilt_with(plan, (), _kept(plan, set()), plan.version)


def part_of(plan: Plan, query_ids: Iterable[str]) -> Plan:
    """Return a smaller plan that contains only the queries ``query_ids`` of a plan. It is compiled from the constraints
    in the plan. Ids that the plan lacks are ignored.

    Each query accepts the same tuples in both plans. Cost: a pass over the tables of the whole plan.
    """
    keep = np.zeros(len(plan), dtype=np.bool_)
    keep[[ordinal for query_id in query_ids if (ordinal := plan.ordinal(query_id)) is not None]] = True
    return _rebuilt_with(plan, (), keep, plan.version)


@dataclass(frozen=True, slots=True, eq=False)
class _Queries:
    """The tables of the queries in a plan, by their handles and ordinals (:class:`asc.plan.plan.Plan`). ``ranks``: the
    ordinal of each handle. ``ids``, ``topic_of`` and ``destinations`` are by ordinal. ``match_all``,
    ``contradictions``: the handles of the queries without conjuncts.
    """

    ids: pa.StringArray
    ranks: Integers
    topic_names: pa.StringArray
    topic_of: Integers
    destinations: DestinationTable
    match_all: Integers
    contradictions: Integers


def _assembled(
    queries: _Queries,
    attributes: tuple[PAttribute, ...],
    dictionaries: Mapping[int, Dictionary],
    table: ConjunctTable,
    *,
    options: CompileOptions,
    version: int,
    listed: tuple[ListedBlock, ...],
) -> Plan:
    """Return a plan that is compiled from scratch. ``table``: conjuncts in the order of the ordinals of their queries.

    The table holds all conjuncts that ``listed`` does not hold. Conjuncts that are better listed by values go to listed
    blocks.
    """
    _check_bounds(attributes, range(len(attributes)), options)
    if not options.always_exact:
        by_values, table, dictionaries = split(table, attributes, dictionaries, options.listed_conjuncts)
        listed += by_values
    patterns = patterns_of(attributes, dictionaries, options)
    none = np.empty(0, dtype=np.int64)
    constants = [none if own.is_matched else _constants(table, slot) for slot, own in enumerate(attributes)]
    rows = 1 + sum(2 * len(own) + 3 for own in constants)
    words = words_of(len(table))
    size_bytes = rows * words * 8 + sum(own.nbytes for own in patterns.values())
    exact = options.always_exact or size_bytes <= options.exact_bytes
    if exact:
        grids = [
            Grid.of_patterns(exact=True) if own.is_matched else Grid.of_constants(constants[slot])
            for slot, own in enumerate(attributes)
        ]
        blocks = [build_block(table, grids, words)] if len(table) else []
    else:
        grids = [_grid(table, slot, attributes, options) for slot in range(len(attributes))]
        blocks = [
            build_block(own, grids, words_of(len(own)), homes)
            for own, homes in grouped(table, grids, options.block_conjuncts, LINE * WORD)
        ]
    return Plan(
        version,
        options,
        attributes,
        tuple(grids),
        dict(dictionaries),
        tuple(blocks),
        queries.ids,
        frozen_int32(queries.ranks),
        queries.topic_names,
        frozen_int32(queries.topic_of),
        queries.destinations,
        frozen_int32(queries.match_all),
        frozen_int32(queries.contradictions),
        patterns,
        listed=listed,
    )


def _changed(plan: Plan, added: Sequence[Query], gone: set[str], version: int) -> Plan | None:
    """Return the next plan, which shares all unchanged blocks with ``plan``. Return None if the whole plan has to be
    compiled anew. ``gone``: the ids of the removed and replaced queries.
    """
    changes = len(added) + len(gone)
    delta = PlanDelta.of(added, len(plan.ranks), IndexChoice(plan.listed))
    if changes > plan.options.rebuild_share * len(plan):
        return None
    if len(plan.blocks) > 0 and _is_exact_block(plan) and _touches(plan, delta, gone):
        if not plan.listed:
            return None
        return replace(
            _rebuilt_with(plan, added, _kept(plan, gone), version, keeps_lists=True), changes=plan.changes + changes
        )
    known = {attribute: slot for slot, attribute in enumerate(plan.p_attributes)}
    plan = with_free_labels(plan, delta.byte_constants(known))
    grown = _grown(plan, delta)
    if grown is None:
        return None
    attributes, grids, dictionaries, patterns = grown
    slots = {attribute: slot for slot, attribute in enumerate(attributes)}
    table = encoded(delta.conjuncts, slots, _labels(dictionaries, len(added)))
    ordinals = [ordinal for query_id in gone if (ordinal := plan.ordinal(query_id)) is not None]
    handles = np.sort(plan.handles[np.array(ordinals, dtype=np.int64)])
    blocks = [block.without(handles) if np.isin(block.table.owner, handles).any() else block for block in plan.blocks]
    blocks = [block for block in placed(blocks, table, grids, plan.options) if block.live.any()]
    queries, ranks = _merged(plan, added, _kept(plan, gone))
    listed = listed_after(plan.listed, delta.listed, ranks)
    _check_bounds(
        attributes, [*used_slots(blocks), *(slots[own] for one in listed for own in one.attributes)], plan.options
    )
    return replace(
        plan,
        version=version,
        p_attributes=attributes,
        grids=tuple(grids),
        dictionaries=dictionaries,
        patterns=patterns,
        blocks=tuple(blocks),
        query_ids=queries.ids,
        ranks=frozen_int32(ranks),
        topic_names=queries.topic_names,
        topic_of=frozen_int32(queries.topic_of),
        destinations=queries.destinations,
        match_all_handles=frozen_int32(queries.match_all),
        contradiction_handles=frozen_int32(queries.contradictions),
        changes=plan.changes + changes,
        listed=listed,
    )


def _touches(plan: Plan, delta: PlanDelta, gone: set[str]) -> bool:
    """Return True if a change adds or removes a conjunct outside of the listed blocks. ``gone``: the ids of the removed
    queries.
    """
    if any(query.predicate.conjuncts for _, query in delta.in_bitmaps):
        return True
    handles = [plan.handle(query_id) for query_id in gone if query_id in plan]
    return any(np.isin(block.table.owner, handles).any() for block in plan.blocks)


def _rebuilt_with(
    plan: Plan, added: Sequence[Query], keep: npt.NDArray[np.bool_], version: int, *, keeps_lists: bool = False
) -> Plan:
    """Return the next plan, compiled from the constraints in the plan and the added queries. ``keep``: the mask of the
    kept queries, by ordinal.

    With ``keeps_lists``, only the bitmaps are compiled anew. The listed blocks receive only the changes, and the
    queries keep their handles.
    """
    queries, ranks = _merged(plan, added, keep)
    if keeps_lists:
        delta = PlanDelta.of(added, len(plan.ranks), IndexChoice(plan.listed))
        listed = listed_after(plan.listed, delta.listed, ranks)
    else:
        delta = PlanDelta.of(added, len(plan.ranks))
        listed = _renewed_listed(plan, delta.listed, ranks)
    tables = [(joined([block.table for block in plan.blocks]), plan.p_attributes, plan.dictionaries)]
    if not keeps_lists:
        tables += [(own.table.wide(), own.attributes, own.dictionaries) for own in plan.listed if not own.by_shapes]
    kept = [
        (table.take(np.flatnonzero((table.owner >= 0) & (ranks[table.owner] >= 0))), columns, known)
        for table, columns, known in tables
    ]
    needed = {columns[slot] for table, columns, _ in kept for slot in np.unique(table.slots).tolist()}
    needed.update(_attributes(added), *(block.attributes for block in listed))
    attributes = tuple(sorted(needed, key=_by_text))
    slots = {attribute: slot for slot, attribute in enumerate(attributes)}
    constants = delta.byte_constants(slots)
    for table, columns, known in kept:
        for slot, values in used_constants(table, known).items():
            constants.setdefault(slots[columns[slot]], set()).update(values)
    dictionaries = {slot: Dictionary.of(values) for slot, values in constants.items()}
    new = encoded(delta.conjuncts, slots, _labels(dictionaries, len(added)))
    table = joined([*(translated(table, columns, known, slots, dictionaries) for table, columns, known in kept), new])
    table = table.take(np.argsort(ranks[table.owner], kind="stable"))
    topics = queries.topic_names.take(pa.array(queries.topic_of)).dictionary_encode()
    queries = replace(
        queries,
        topic_names=topics.dictionary,
        topic_of=topics.indices.to_numpy().astype(np.int32),
        destinations=queries.destinations.compact(),
    )
    if not keeps_lists:
        table = replace(table, owner=ranks[table.owner])
        queries = replace(
            queries,
            ranks=np.arange(len(queries.ids), dtype=np.int32),
            match_all=ranks[queries.match_all],
            contradictions=ranks[queries.contradictions],
        )
    return _assembled(queries, attributes, dictionaries, table, options=plan.options, version=version, listed=listed)


def _renewed_listed(plan: Plan, added: Sequence[ListedBlock], ranks: Integers) -> tuple[ListedBlock, ...]:
    """Return one listed block for each p-attribute by whose shapes conjuncts are listed. The block has the remaining
    conjuncts of the plan's listed blocks, and the conjuncts of the added blocks.

    ``ranks``: the ordinal of each handle. In the returned blocks, each conjunct's query has its ordinal as its handle,
    because a newly compiled plan numbers its handles like that.
    """
    by_position: dict[PAttribute, list[ListedBlock]] = {}
    for block in (*plan.listed, *added):
        if block.by_shapes:
            by_position.setdefault(block.listed, []).append(block)
    made = (merged(blocks, ranks) for blocks in by_position.values())
    return tuple(block.with_owners(ranks[block.table.owner]) for block in made if block is not None)


def _grown(
    plan: Plan, delta: PlanDelta
) -> tuple[tuple[PAttribute, ...], list[Grid], dict[int, Dictionary], dict[int, Matched]] | None:
    """Return the p-attributes, grids, dictionaries and patterns of a plan, extended for the added queries of ``delta``.

    Return None if a dictionary has no free label, the patterns exceed their bound, or there are more than SLOTS_MAX
    p-attributes.
    """
    attributes = tuple(dict.fromkeys([*plan.p_attributes, *_attributes(delta.queries)]))
    slots = {attribute: slot for slot, attribute in enumerate(attributes)}
    dictionaries, patterns = dict(plan.dictionaries), dict(plan.patterns)
    for slot, values in delta.byte_constants(slots).items():
        known = dictionaries.get(slot)
        wider = Dictionary.of(values) if known is None else known.with_constants(values)
        if wider is None:
            return None
        dictionaries[slot] = wider
        if attributes[slot].is_matched:
            own = patterns.get(slot)
            patterns[slot] = found_in(attributes[slot], wider) if own is None else own.with_constants(values, wider)
    if not fit_beside(plan, dictionaries, patterns):
        return None
    if len(attributes) > SLOTS_MAX:
        return None
    grids = list(plan.grids)
    if len(attributes) > len(grids):
        labels = _labels(dictionaries, len(delta.queries))
        table = encoded(delta.conjuncts, slots, labels)
        grids += [_grid(table, slot, attributes, plan.options) for slot in range(len(grids), len(attributes))]
    return attributes, grids, dictionaries, patterns


def _kept(plan: Plan, gone: set[str]) -> npt.NDArray[np.bool_]:
    """Return the mask of the queries that remain in the plan, by ordinal. ``gone``: the ids of the removed queries."""
    keep = np.ones(len(plan), dtype=np.bool_)
    keep[[ordinal for query_id in gone if (ordinal := plan.ordinal(query_id)) is not None]] = False
    return keep


def _merged(plan: Plan, added: Sequence[Query], keep: npt.NDArray[np.bool_]) -> tuple[_Queries, Integers]:
    """Return the tables of queries after a change, and the ordinal of every handle. New handles come after old ones.
    ``keep``: the mask of the kept queries, by ordinal.
    """
    kept = np.flatnonzero(keep)
    ids = plan.query_ids.take(pa.array(kept))
    places = [insertion_point(ids, query.id) for query in added]
    order = np.insert(np.arange(len(kept)), places, len(kept) + np.arange(len(added)))
    ids = pa.concat_arrays([ids, pa.array([query.id for query in added], pa.string())]).take(pa.array(order))
    wanted = pa.array([query.topic for query in added], pa.string())
    unknown = wanted.filter(pc.is_null(pc.index_in(wanted, value_set=plan.topic_names))).unique()
    names = pa.concat_arrays([plan.topic_names, unknown])
    topics = np.append(plan.topic_of[kept], pc.index_in(wanted, value_set=names).to_numpy())
    ordinal_of = np.empty(len(order), dtype=np.int32)
    ordinal_of[order] = np.arange(len(order))
    renumbered = np.full(len(plan) + 1, -1, dtype=np.int32)
    renumbered[kept] = ordinal_of[: len(kept)]
    ranks = np.append(renumbered[plan.ranks], ordinal_of[len(kept) :]).astype(np.int32)
    start = len(plan.ranks)
    special = [
        np.append(old[ranks[old] >= 0], _handles(added, start, match_all=match_all)).astype(np.int32)
        for old, match_all in ((plan.match_all_handles, True), (plan.contradiction_handles, False))
    ]
    destinations = plan.destinations.with_queries(kept, [query.destination for query in added]).taken(order)
    queries = _Queries(ids, ranks, names, topics[order].astype(np.int32), destinations, special[0], special[1])
    return queries, ranks


def _attributes(queries: Iterable[Query]) -> list[PAttribute]:
    """Return the p-attributes of some queries, sorted by their text, independent of the order of the queries."""
    found = {attribute for query in queries for attribute in query.predicate.read}
    return sorted(found, key=_by_text)


def _by_text(attribute: PAttribute) -> tuple[str, bool]:
    return attribute.sql, attribute.is_matched


def _handles(queries: Sequence[Query], start: int, *, match_all: bool) -> Integers:
    """Return the handles of the queries without conjuncts. With ``match_all``, return those of the queries that accept
    every tuple, otherwise those of the contradictions. ``start``: the handle of the first query.
    """
    predicates = enumerate((query.predicate for query in queries), start)
    return np.array([i for i, p in predicates if not p.conjuncts and p.match_all == match_all], dtype=np.int32)


def _labels(dictionaries: Mapping[int, Dictionary], queries: int) -> dict[int, Callable[[bytes], int]]:
    """Return for each dictionary, by slot, a function from a constant to its label. ``queries``: the number of queries
    that use the functions. For many queries, the functions look labels up in a hash table.
    """
    if queries < _MANY_QUERIES:
        return {slot: dictionary.label for slot, dictionary in dictionaries.items()}
    return {slot: dictionary.labels_by_constant().__getitem__ for slot, dictionary in dictionaries.items()}


def _constants(table: ConjunctTable, slot: int) -> Keys:
    """Return the distinct constants of a p-attribute that bound the intervals of a table, sorted. ``slot``: the index
    of the p-attribute.
    """
    which = table.slots == slot
    low, high = table.finite()
    return np.unique(np.concatenate([table.low[which & low], table.high[which & high]]).astype(np.int64))


def _cuts(table: ConjunctTable, slot: int) -> Keys:
    """Return the keys at which regions must begin so that they separate the intervals of a p-attribute: the first key
    of each interval, and the first key after each interval. Boundaries at the ends of the key space are omitted.
    ``slot``: the index of the p-attribute.
    """
    which = table.slots == slot
    starts, ends = table.starts()[which], table.ends()[which]
    starts, ends = starts[starts <= ends], ends[starts <= ends]
    return np.concatenate([starts[starts != KEY_MIN], ends[ends != KEY_MAX] + 1])


def _grid(table: ConjunctTable, slot: int, attributes: Sequence[PAttribute], options: CompileOptions) -> Grid:
    """Return the boundaries of the regions of a p-attribute, for a plan that is not one block of exact regions.
    ``slot``: the index of the p-attribute.
    """
    if attributes[slot].is_matched:
        return Grid.of_patterns(exact=False)
    cuts = _cuts(table, slot)
    bounded = max(options.bounded_regions, options.bounded_rows // len(attributes))
    enough = max(options.exact_regions, bounded)
    return Grid.of_cuts(cuts, enough if len(np.unique(cuts)) < enough else bounded)


def _is_exact_block(plan: Plan) -> bool:
    return all(grid.exact for grid in plan.grids)


def _check_bounds(attributes: Sequence[PAttribute], used: Iterable[int], options: CompileOptions) -> None:
    if len(attributes) > SLOTS_MAX:
        raise PlanError("too many p-attributes", len(attributes), f"at most {SLOTS_MAX} in one plan")
    computed = sum(attributes[slot].is_computed for slot in used)
    if computed > options.spark_attributes:
        raise PlanError(
            "too many expressions for Spark to compute",
            computed,
            f"at most {options.spark_attributes} different ones (spark_attributes); use plain columns instead",
        )
