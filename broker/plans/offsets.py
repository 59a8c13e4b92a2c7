"""Offsets of a topic."""

from __future__ import annotations

Offsets = dict[int, int]
"""Partition to offset, of one topic."""
