"""Encoding of many rows at a time from columns of texts, byte for byte equal to a format's encoder for single rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

ColumnEncoder = Callable[["Sequence[pa.Array]"], "pa.Array"]
"""A function from columns of texts (Arrow strings, NULL for no value) to the values of records (Arrow strings)."""


def mapped(texts: pa.Array, rewrite: Callable[[str], str]) -> pa.Array:
    """Return each text rewritten by a Python function, which is called once for equal texts. NULL stays NULL."""
    import pyarrow as pa

    found = texts.dictionary_encode()
    return pa.array([rewrite(text) for text in found.dictionary.to_pylist()], pa.string()).take(found.indices)


def mapped_unless(plain: pa.Array, texts: pa.Array, rewrite: Callable[[str], str]) -> pa.Array:
    """Return the texts unchanged at positions where ``plain`` is true, and rewritten elsewhere. NULL stays NULL."""
    import pyarrow.compute as pc

    if pc.all(plain).as_py() in (True, None):
        return texts
    odd = pc.fill_null(pc.invert(plain), False)
    return pc.replace_with_mask(texts, odd, mapped(texts.filter(odd), rewrite))


def holds_any(texts: pa.Array, codes: Sequence[int]) -> bool:
    """Return whether any of these bytes occurs in the texts. Cost: one look at each byte."""
    import numpy as np

    buffers = texts.buffers()
    if buffers[2] is None:
        return False
    offsets = np.frombuffer(buffers[1], np.int32)
    first, last = offsets[texts.offset], offsets[texts.offset + len(texts)]
    is_sought = np.zeros(256, np.bool_)
    is_sought[list(codes)] = True
    return bool(is_sought[np.frombuffer(buffers[2], np.uint8)[first:last]].any())


def joined(pieces: Sequence[str | pa.Array], null: str) -> pa.Array:
    """Return, for each row, its pieces joined to one text. Each of ``pieces`` is a column of texts, or one text for all
    rows. ``null``: the text that replaces NULL.
    """
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*pieces, "", null_handling="replace", null_replacement=null)
