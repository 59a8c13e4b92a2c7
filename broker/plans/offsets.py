"""Offsets of the partitions of a topic."""

from __future__ import annotations

Offsets = dict[int, int]
"""The offsets of one topic by partition."""
