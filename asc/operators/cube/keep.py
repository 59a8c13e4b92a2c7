"""Retention of a cube: bands of ages of panes. Each band has a grain and levels, with which its panes are stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from asc.errors import CubeError
from asc.operators.cube.definition import DAY_HOURS, HOUR_S, CubeDefinition
from asc.operators.cube.output import Output
from asc.operators.cube.view import View, grain_text
from asc.spark_types import folded

BANDS_MAX = 8
"""The largest number of bands of a cube."""
BAND_PANES_MAX = 1_440
"""The largest number of panes of a band that are merged into one pane of the next band: the minutes of a day."""
AGE_S_MAX = 10_000 * 365 * DAY_HOURS * HOUR_S
"""The longest age of a band in seconds."""

_DAY_S = DAY_HOURS * HOUR_S
_UNITS_S = {"s": 1, "min": 60, "h": HOUR_S, "d": _DAY_S, "w": 7 * _DAY_S, "y": 365 * _DAY_S}
_LENGTH = re.compile(r"([1-9][0-9]{0,11})(s|min|h|d|w|y)", re.ASCII)
_LEVEL = re.compile(r"\s+(`[^`]+`|[^\s:`]+):([0-9]{1,2})", re.ASCII)
_UNITS = "s, min, h, d, w or y"
_REMEDY = 'give bands of grain:age, and what they roll up, as ["1h:30d", "1d:2y origin:1"]'


@dataclass(frozen=True, slots=True)
class Band:
    """A band: the form in which panes are stored up to an age.

    ``view``: the cuboid and the length of panes that the band stores. ``age_s``: the age in seconds at which a pane
    moves to the next band, or is deleted if the band is the last one. The age of a pane is the time from its end to the
    watermark.
    """

    view: View
    age_s: int

    def text(self, definition: CubeDefinition) -> str:
        """Return the band as the text that :func:`bands_of` reads.

        >>> definition = CubeDefinition.parse({"dimensions": [["a", "b"]], "measures": ["count(*)"], "grain_s": 3600})
        >>> [band.text(definition) for band in bands_of(["1h:30d", "1d:2y a:1"], definition)]
        ['1h:30d', '1d:2y a:1']
        """
        assert definition.grain_s is not None
        dimensions = definition.dimensions
        levels = zip(dimensions.hierarchies, self.view.cuboid, strict=True)
        rolled_up = [f" {_level_text(definition, names, level)}" for names, level in levels if level < len(names)]
        return f"{grain_text(self.view.panes * definition.grain_s)}:{_age_text(self.age_s)}{''.join(rolled_up)}"


def bands_of(plain: object, definition: CubeDefinition, output: Output | None = None) -> tuple[Band, ...]:
    """Return the bands in a JSON list of texts. Raise CubeError if a text is invalid. Without bands, all panes are
    kept.

    ``output``: the windows of the cube; None if it writes none. A text is ``grain:age``, and for each dimension that is
    rolled up the name of its coarsest level and the number of levels kept. The first band has the grain of the cube and
    all levels. Each further band has panes of at most BAND_PANES_MAX panes of the preceding band, no finer level in any
    dimension, and a greater age.
    """
    if plain is None:
        return ()
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("keep", plain, _REMEDY)
    if len(plain) > BANDS_MAX:
        raise CubeError("keep", len(plain), f"a cube has at most {BANDS_MAX} bands: leave some out")
    if plain and definition.grain_s is None:
        raise CubeError(
            "keep",
            ", ".join(map(str, plain)),
            "has no ages without a time: leave it out, or define the cube with a time",
        )
    bands = tuple(_band(text, definition) for text in plain)
    if bands and bands[0].view != View.base(definition.dimensions):
        assert definition.grain_s is not None
        remedy = (
            f"keeps other panes than the cube: begin with a band of {grain_text(definition.grain_s)}, without levels"
        )
        raise CubeError("keep", plain[0], remedy)
    for (finer, coarser), text in zip(pairwise(bands), plain[1:], strict=True):
        _check_is_coarser(text, finer.view, coarser.view, definition)
        _check_panes(text, finer, coarser, definition)
        if coarser.age_s <= finer.age_s:
            raise CubeError("keep", text, "ends no later than the band before it: give a longer age")
    if bands and output is not None and bands[0].age_s < output.window_s:
        remedy = f"is shorter than the window of {grain_text(output.window_s)}: give a longer age"
        raise CubeError("keep", plain[0], remedy)
    return bands


def plain_bands(bands: Sequence[Band], definition: CubeDefinition) -> list[str]:
    """Return bands as a JSON list that :func:`bands_of` accepts."""
    return [band.text(definition) for band in bands]


def _band(text: object, definition: CubeDefinition) -> Band:
    if not isinstance(text, str) or not text.strip():
        raise CubeError("keep", text, _REMEDY)
    lengths, *levels = text.strip().split(maxsplit=1)[:2] or [""]
    grain, has_age, age = lengths.partition(":")
    if not has_age:
        raise CubeError("keep", text, _REMEDY)
    grain_s, age_s = _seconds(text, grain), _seconds(text, age)
    assert definition.grain_s is not None
    panes, rest = divmod(grain_s, definition.grain_s)
    if rest or not is_grain(grain_s):
        remedy = (
            f"has a grain that is no multiple of {grain_text(definition.grain_s)} that divides a day or is whole days"
        )
        raise CubeError("keep", text, f"{remedy}: give one, as 1h or 1d")
    if age_s % definition.grain_s or age_s > AGE_S_MAX:
        remedy = f"has an age that is no multiple of {grain_text(definition.grain_s)} up to {grain_text(AGE_S_MAX)}"
        raise CubeError("keep", text, f"{remedy}: give one, as 30d")
    return Band(View(_cuboid(text, levels[0] if levels else "", definition), panes), age_s)


def _check_is_coarser(text: object, finer: View, coarser: View, definition: CubeDefinition) -> None:
    """Raise CubeError if the panes of a band cannot be computed from those of the preceding band, or are the same."""
    assert definition.grain_s is not None
    if finer == coarser:
        remedy = "keeps the same panes as the band before it: give a longer grain or fewer levels, or leave it out"
        raise CubeError("keep", text, remedy)
    if coarser.panes % finer.panes:
        own, former = (grain_text(view.panes * definition.grain_s) for view in (coarser, finer))
        remedy = f"has a grain of {own}, and the band before it {former}: give a multiple of {former}"
        raise CubeError("keep", text, remedy)
    for names, kept, left in zip(definition.dimensions.hierarchies, coarser.cuboid, finer.cuboid, strict=True):
        if kept > left:
            levels = f"{kept} level{'s' * (kept != 1)} of {_quoted(names[0])}"
            added = _level_text(definition, names, left)
            raise CubeError("keep", text, f"keeps {levels}, and the band before it only {left}: add {added}")


def _check_panes(text: object, finer: Band, coarser: Band, definition: CubeDefinition) -> None:
    """Raise CubeError if a pane of a band consists of more than BAND_PANES_MAX panes of the preceding band."""
    count = coarser.view.panes // finer.view.panes
    if count <= BAND_PANES_MAX:
        return
    assert definition.grain_s is not None
    finer_s = finer.view.panes * definition.grain_s
    grains_s = [finer_s * panes for panes in range(BAND_PANES_MAX, 1, -1) if is_grain(finer_s * panes)]
    between_s = [own for own in grains_s if coarser.view.panes * definition.grain_s % own == 0]
    if between_s:
        remedy = f"add a band of {grain_text(between_s[0])} between them"
    else:
        remedy = f"give a grain of at most {grain_text(grains_s[0])}"
    detail = f"merges {count:,} panes of the band before it into one, more than {BAND_PANES_MAX:,}: {remedy}"
    raise CubeError("keep", text, detail)


def _age_text(age_s: int) -> str:
    """Return an age as a number and a unit, in years if it is whole years of 365 days."""
    years, rest = divmod(age_s, _UNITS_S["y"])
    return grain_text(age_s) if rest else f"{years}y"


def is_grain(grain_s: int) -> bool:
    """Return whether a band may have panes of this length, which must divide a day or be whole days."""
    return _DAY_S % grain_s == 0 or grain_s % _DAY_S == 0


def _seconds(text: str, length: str) -> int:
    found = _LENGTH.fullmatch(length)
    if found is None:
        raise CubeError("keep", text, f"has {length!r} for a length of time: write a whole number and {_UNITS}, as 30d")
    return int(found[1]) * _UNITS_S[found[2]]


def _cuboid(text: str, levels: str, definition: CubeDefinition) -> tuple[int, ...]:
    dimensions = definition.dimensions
    cuboid = list(dimensions.base)
    computed = {folded(own.name): own for own in definition.computed}
    rest = f" {levels}" if levels else ""
    by_name = {folded(name): place for place, names in enumerate(dimensions.hierarchies) for name in names}
    while rest.strip():
        level, word = _LEVEL.match(rest), rest.split(maxsplit=1)[0]
        if _LENGTH.fullmatch(word.partition(":")[0]):
            raise CubeError("keep", text, f"has {word} after its age: write a comma between two bands")
        if level is None:
            raise CubeError("keep", text, _REMEDY)
        name = folded(level[1].strip("`"))
        if name in computed:
            names = computed[name].levels
            cuboid[dimensions.hierarchies.index(names)] = _kept_levels(text, level[0].strip(), names)
            rest = rest[level.end() :]
            continue
        place = by_name.get(name)
        if place is None:
            raise CubeError(
                "keep", text, f"names {level[1]}, which is no dimension: name some of {', '.join(dimensions.names)}"
            )
        if int(level[2]) > len(dimensions.hierarchies[place]):
            most = len(dimensions.hierarchies[place])
            raise CubeError("keep", text, f"keeps {level[2]} levels of {level[1]}, which has {most}: give fewer")
        cuboid[place] = int(level[2])
        rest = rest[level.end() :]
    return tuple(cuboid)


def _kept_levels(text: str, level: str, names: Sequence[str]) -> int:
    """Return the number of levels of a computed dimension up to ``level``, such as ``geo:10``; 0 for ``geo:0``."""
    spelled = [folded(name) for name in names]
    name = folded(level.replace("`", ""))
    if name in spelled:
        return spelled.index(name) + 1
    none = f"{names[0].partition(':')[0]}:0"
    if name == folded(none):
        return 0
    raise CubeError("keep", text, f"keeps {level}, which is no level: give one of {', '.join((*names, none))}")


def _level_text(definition: CubeDefinition, names: Sequence[str], level: int) -> str:
    """Return a space-free text for the levels that a band keeps of a dimension, which :func:`_cuboid` parses."""
    dimension = definition.computed_with(names)
    if dimension is None:
        return f"{_quoted(names[0])}:{level}"
    return names[level - 1] if level else f"{dimension.name}:0"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\s:`]+", name) else f"`{name}`"
