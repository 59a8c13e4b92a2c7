# ruff: noqa: PLR0917 (compiled functions take their arguments by position)
"""Compiled loops of :mod:`asc.keys.patterns`. They build the Aho-Corasick automaton of a set of patterns, and match
texts with it.

Callers guarantee the shapes and dtypes of the arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from asc.compiled import allocating, compiled

Array = npt.NDArray[Any]

CHILD, FAIL, HIT, OUT = range(4)
"""The columns of the array ``nodes`` of the automaton; :func:`link_trie` explains them."""


class TrieArrays(NamedTuple):
    """The automaton of a :class:`asc.keys.patterns.PatternSet`, and the length of each of its literals."""

    nodes: Array
    symbol: Array
    root: Array
    lengths: Array


class RuleArrays(NamedTuple):
    """The literals, the tail and the label of each pattern, as :class:`asc.keys.patterns.PatternSet` describes
    them.
    """

    literals: Array
    first_literal: Array
    first_tail: Array
    tails: Array
    labels: Array


class StarterArrays(NamedTuple):
    """The patterns that begin with each literal, and for each pattern whether this literal must be at the start of the
    text.
    """

    first_starter: Array
    starters: Array
    at_start: Array


class EnderArrays(NamedTuple):
    """The patterns that consist of one literal at the end of the text, by literal."""

    first_ender: Array
    enders: Array


class PatternArrays(NamedTuple):
    """The arrays of a :class:`asc.keys.patterns.PatternSet` as kernels read them."""

    trie: TrieArrays
    rules: RuleArrays
    starting: StarterArrays
    ending: EnderArrays


class WaitingArrays(NamedTuple):
    """The patterns that wait for each literal while a text is searched. The literal is the next one that these patterns
    need.

    By literal: ``head`` int32 is the first pattern that waits for the literal. It is valid in the text ``head_of``
    int64. By pattern, int32: ``link`` is the next pattern that waits for the same literal. ``place`` is the index of
    that literal in the literals of all patterns. ``position`` is the end of the pattern's previous literal in the text.
    """

    head: Array
    head_of: Array
    link: Array
    place: Array
    position: Array


class SearchArrays(NamedTuple):
    """Scratch memory of a search of texts for patterns. All arrays are zeros before the search.

    By literal, int64: ``seen`` is the text in which the literal was last found. ``quiet``: during a search, a counter
    increases whenever a pattern advances to its next literal. ``quiet`` is the counter at the literal's last visit
    without effect. As long as the counter is the same, the literal is not visited again.
    """

    seen: Array
    quiet: Array
    waiting: WaitingArrays


@allocating
def make_trie(offsets: Array, data: Array, parent: Array, symbol: Array, out: Array) -> int:
    """Write the trie (the tree of common prefixes) of sorted, distinct, non-empty byte strings, level by level. Return
    the number of nodes.

    Node 0 is the root. The children of a node are adjacent, sorted by ``symbol``, and after the children of earlier
    nodes. ``out``: the string that ends in a node; -1 if no string does. The arrays have capacity for one node for each
    byte, and for the root.
    """
    strings = offsets.size - 1
    alive = np.arange(strings)
    node_of = np.zeros(strings, dtype=np.int32)
    nodes, depth, count = 1, 0, strings
    out[0] = -1
    while count:
        last_parent, last_symbol = -1, -1
        left = 0
        for i in range(count):
            string = alive[i]
            byte = np.int64(data[offsets[string] + depth])
            if node_of[string] != last_parent or byte != last_symbol:
                last_parent, last_symbol = node_of[string], byte
                parent[nodes], symbol[nodes], out[nodes] = last_parent, byte, -1
                nodes += 1
            node_of[string] = nodes - 1
            if offsets[string + 1] - offsets[string] == depth + 1:
                out[nodes - 1] = string
            else:
                alive[left] = string
                left += 1
        count = left
        depth += 1
    return nodes


@compiled
def _child(nodes: Array, symbol: Array, node: int, byte: int) -> int:
    """Return the child of a trie node to which a byte leads; -1 if the node has no such child."""
    low, high = nodes[node, CHILD], nodes[node + 1, CHILD]
    while high - low > 8:
        middle = (low + high) >> 1
        if symbol[middle] <= byte:
            low = middle
        else:
            high = middle
    for child in range(low, high):
        if symbol[child] == byte:
            return child
    return -1


@compiled
def _followed(nodes: Array, symbol: Array, root: Array, node: int, byte: int) -> int:
    """Return the node of the automaton to which a byte leads from ``node``. This is the child for the byte of the first
    node along the failure links (:func:`link_trie`) that has such a child. If no node has one, return the root.
    """
    while node != 0:
        child = _child(nodes, symbol, node, byte)
        if child >= 0:
            return child
        node = nodes[node, FAIL]
    return root[byte]  # type: ignore[no-any-return]


@allocating
def link_trie(parent: Array, symbol: Array, out: Array, nodes: Array, root: Array) -> int:
    """Write the Aho-Corasick links of a trie. Return the length of the longest chain of strings, each a suffix of the
    previous one.

    ``nodes`` int32[n + 1, 4], initially zeros, has four columns:

    - CHILD: the first child of a node.
    - FAIL: the node of the longest proper suffix of the node's string.
    - HIT: the nearest node along the failure links, including the node itself, in which a string ends; 0 if there is
      none.
    - OUT: the string that ends in the node; -1 if there is none.

    A row fits one cache line. ``root`` int32[256]: the child of the root for each byte; 0, the root, if there is none.
    """
    number = symbol.size
    for node in range(1, number):
        nodes[parent[node] + 1, CHILD] += 1
    nodes[0, CHILD] = 1
    for node in range(number):
        nodes[node + 1, CHILD] += nodes[node, CHILD]
    root[:] = 0
    for child in range(nodes[0, CHILD], nodes[1, CHILD]):
        root[symbol[child]] = child
    nodes[0, OUT] = -1
    chain = np.zeros(number, dtype=np.int32)
    for node in range(1, number):
        link = 0
        if parent[node] != 0:
            link = _followed(nodes, symbol, root, nodes[parent[node], FAIL], symbol[node])
        nodes[node, FAIL] = link
        nodes[node, OUT] = out[node]
        nodes[node, HIT] = node if out[node] >= 0 else nodes[link, HIT]
        chain[node] = chain[link] + (out[node] >= 0)
    return int(chain.max())


@compiled
def _advanced(
    pattern: int,
    at: int,
    end: int,
    begin: int,
    stop: int,
    texts: Array,
    rules: RuleArrays,
    waiting: WaitingArrays,
    stamp: int,
    matched: Array,
    count: int,
) -> int:
    """Move a pattern on to its next literal, after its literal ``at`` was found in the text up to ``end``. Return the
    number of labels found so far.

    The pattern then waits for that next literal. If there is none, the pattern matches if the text ends with the
    pattern's tail. Then the function writes the label of the pattern to ``matched``.
    """
    first_literal, first_tail, tails = rules.first_literal, rules.first_tail, rules.tails
    head, head_of = waiting.head, waiting.head_of
    at += 1
    if at < first_literal[pattern + 1]:
        literal = rules.literals[at]
        waiting.link[pattern] = head[literal] if head_of[literal] == stamp else -1
        head[literal] = pattern
        head_of[literal] = stamp
        waiting.place[pattern] = at
        waiting.position[pattern] = end
        return count
    low, high = first_tail[pattern], first_tail[pattern + 1]
    if stop - begin - end < high - low:
        return count
    for i in range(low, high):
        if texts[stop - high + i] != tails[i]:
            return count
    matched[count] = rules.labels[pattern]
    return count + 1


@compiled
def _at_literal(
    literal: int,
    start: int,
    end: int,
    begin: int,
    stop: int,
    texts: Array,
    rules: RuleArrays,
    starting: StarterArrays,
    seen: Array,
    waiting: WaitingArrays,
    stamp: int,
    matched: Array,
    count: int,
) -> tuple[int, int, bool]:
    """Move the patterns that wait for a literal on to their next literal. The literal was found in the text from
    ``start`` to ``end``.

    If the literal is found for the first time in the text, the patterns that begin with it advance too. Return the
    number of labels found, the number of patterns that advanced, and whether any pattern still waits for the literal.
    """
    first_literal = rules.first_literal
    first_starter, starters, at_start = starting.first_starter, starting.starters, starting.at_start
    head, head_of, link = waiting.head, waiting.head_of, waiting.link
    moves, is_awaited = 0, False
    if head_of[literal] == stamp:
        pattern = head[literal]
        head[literal] = -1
        while pattern >= 0:
            following = link[pattern]
            if start >= waiting.position[pattern]:
                at = waiting.place[pattern]
                count = _advanced(pattern, at, end, begin, stop, texts, rules, waiting, stamp, matched, count)
                moves += 1
            else:
                link[pattern] = head[literal]
                head[literal] = pattern
                is_awaited = True
            pattern = following
    if seen[literal] != stamp:
        seen[literal] = stamp
        for starter in range(first_starter[literal], first_starter[literal + 1]):
            pattern = starters[starter]
            if start == 0 or not at_start[pattern]:
                at = first_literal[pattern]
                count = _advanced(pattern, at, end, begin, stop, texts, rules, waiting, stamp, matched, count)
                moves += 1
    return count, moves, is_awaited


@allocating
def find_patterns(
    offsets: Array,
    texts: Array,
    first_text: int,
    patterns: PatternArrays,
    search: SearchArrays,
    ends: Array,
    matched: Array,
    count: int,
) -> tuple[int, int]:
    """Write to ``matched`` the labels of the patterns that each text matches. The labels of each text are sorted.

    The first text is ``first_text``, and its labels begin at ``matched[count]``. Text i is ``texts[offsets[i]:offsets[i
    + 1]]``, and its labels end at ``ends[i]``. The function returns before a text for which ``matched`` may be too
    short: a text may match all patterns. It returns the next text and the number of labels.

    Each text is read once. A pattern waits for one literal at a time, in the list of that literal. So the search takes
    a step for each literal of a pattern, and a step for each position at which the literal overlaps the literal found
    before. If literals are suffixes of a found literal, the search visits them too, and visits them again only after a
    pattern has advanced.
    """
    trie, rules, starting = patterns.trie, patterns.rules, patterns.starting
    nodes, symbol, root, lengths = trie.nodes, trie.symbol, trie.root, trie.lengths
    labels, first_ender, enders = rules.labels, patterns.ending.first_ender, patterns.ending.enders
    seen, quiet, waiting = search.seen, search.quiet, search.waiting
    quiet[:] = 0
    moves = 0
    for text in range(first_text, offsets.size - 1):
        if matched.size - count < labels.size:
            return text, count
        begin, stop = offsets[text], offsets[text + 1]
        stamp = text + 1
        before = count
        moves += 1
        node = 0
        for i in range(begin, stop):
            node = _followed(nodes, symbol, root, node, texts[i])
            nearest = hit = nodes[node, HIT]
            if hit == 0 or (quiet[nodes[hit, OUT]] == moves and i + 1 < stop):
                continue
            end = i + 1 - begin
            moved, is_any_awaited = moves, False
            while hit > 0:
                literal = nodes[hit, OUT]
                start = end - lengths[literal]
                count, more, is_awaited = _at_literal(
                    literal, start, end, begin, stop, texts, rules, starting, seen, waiting, stamp, matched, count
                )
                moves += more
                is_any_awaited |= is_awaited
                if i + 1 == stop:
                    for ender in range(first_ender[literal], first_ender[literal + 1]):
                        matched[count] = labels[enders[ender]]
                        count += 1
                hit = nodes[nodes[hit, FAIL], HIT]
            if moved == moves and not is_any_awaited:
                quiet[nodes[nearest, OUT]] = moves
        if count - before > 1:
            matched[before:count].sort()
        ends[text] = count
    return offsets.size - 1, count
