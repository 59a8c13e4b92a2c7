"""Bits of doubles, from which keys of doubles are made."""

from __future__ import annotations

SIGN_MASK = 0x7FFF_FFFF_FFFF_FFFF
"""All bits of a double but its sign."""

NAN_KEY = 0x7FF8_0000_0000_0000
"""Key of every NaN: above the key of +infinity, as Spark orders it."""
