"""Order-preserving dictionaries: labels sort as byte strings do, and stay when constants are added."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asc.keys.dictionary import Dictionary
from asc.keys.key_kernels import bytes_keys

constants = st.lists(st.binary(max_size=12), max_size=20)


@given(constants, constants)
def test_labels_order_constants_and_values_as_bytes(known: list[bytes], values: list[bytes]) -> None:
    dictionary = Dictionary.of(known)
    everything = sorted({*known, *values})
    labels = [dictionary.label(value) for value in everything]
    assert labels == sorted(labels)
    for value, label in zip(everything, labels, strict=True):
        is_constant = value in known
        assert [dictionary.label(other) == label for other in known].count(True) == known.count(value)
        if known:
            below = [constant for constant in known if constant <= value]
            assert dictionary.value(label) == (max(below) if below else b"", is_constant)


@given(constants, st.lists(constants, max_size=4))
def test_added_constants_leave_labels_as_they_are(known: list[bytes], additions: list[list[bytes]]) -> None:
    dictionary = Dictionary.of(known)
    for added in additions:
        wider = dictionary.with_constants(added)
        assert wider is not None
        for constant in dictionary.constants():
            assert wider.label(constant) == dictionary.label(constant)
        dictionary = wider
    assert dictionary.constants() == sorted({*known, *(value for added in additions for value in added)})
    assert all(np.diff(dictionary.labels) >= 2)


@settings(deadline=None)  # the first call compiles
@given(constants, constants)
def test_the_kernel_finds_the_same_labels(known: list[bytes], values: list[bytes]) -> None:
    dictionary = Dictionary.of(known)
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in values])]).astype(np.int32)
    data = np.frombuffer(b"".join(values), dtype=np.uint8)
    keys = np.empty(len(values), dtype=np.int64)
    bytes_keys(offsets, data, dictionary.offsets, dictionary.data, dictionary.heads, dictionary.labels, keys)
    assert keys.tolist() == [dictionary.label(value) for value in values]


def test_labels_run_out_between_two_constants() -> None:
    dictionary: Dictionary | None = Dictionary.of([b"a", b"b"])
    added = 0
    while dictionary is not None:
        assert added < 64
        added += 1
        dictionary = dictionary.with_constants([b"a" + b"\0" * (64 - added)])
    assert added > 20


def test_a_known_constant_changes_nothing() -> None:
    dictionary = Dictionary.of([b"a", b"b"])
    assert dictionary.with_constants([b"b"]) is dictionary


def test_arrays_are_read_only() -> None:
    dictionary = Dictionary.of([b"a"])
    assert not any(
        array.flags.writeable for array in (dictionary.offsets, dictionary.labels, dictionary.heads, dictionary.data)
    )
