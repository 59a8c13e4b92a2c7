"""The API's answers about one block of a running plan."""

from __future__ import annotations

from typing_extensions import TypedDict


class Region(TypedDict):
    """A region of a construct. ``satisfied``: the number of conjuncts that the region does not exclude.

    ``constrained``: the number of these conjuncts that constrain the p-attribute. ``next_constructs``: the number of
    constructs that may still exclude a conjunct. ``arrow``: the construct that the region's micro-arrow leads to.
    """

    region: int
    text: str
    satisfied: int
    constrained: int
    next_constructs: int
    arrow: int | None


class Construct(TypedDict):
    """A construct: its p-attribute, the conjuncts that constrain it, and some of its regions."""

    construct: int
    attribute: str
    type: str
    spark: bool
    exact: bool
    constrained: int
    region_count: int
    regions: list[Region]
    null: Region


class MicroArrow(TypedDict):
    """A micro-arrow from a region of a construct to another construct."""

    construct: int
    region: int
    text: str
    target: int


class MeasuredConstruct(TypedDict):
    """A construct at its position in the sequence, as the monitor measured it."""

    construct: int
    conditional_selectivity: float | None
    dropping_ratio: float


class BlockFigures(TypedDict):
    """The monitor's figures of a block's sequence, measured when the block adopted the sequence."""

    dropping_ratio: float
    cost: float
    constructs: list[MeasuredConstruct]


class Block(TypedDict):
    """A block of a stream's running plan, numbered from 0."""

    stream: str
    version: int
    number: int
    blocks: int
    conjuncts: int
    constructs: list[Construct]
    sequence: list[int]
    arrow_count: int
    micro_arrows: list[MicroArrow]
    monitor: BlockFigures | None
