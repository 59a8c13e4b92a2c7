"""The windows that a cube writes: their parameters, as the API and the registry represent them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from asc.errors import CubeError
from asc.operators.cube.cuboid import Levels
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.sliding import Sliding
from asc.operators.cube.view import grain_text

OUTPUTS_MAX = 64
"""The largest number of output cuboids of a cube."""
WINDOW_PANES_MAX = 100_000
"""The largest number of panes of a window."""
WINDOWS_A_PANE_MAX = 1_440
"""The largest number of windows that contain one pane. After a late record, each of them is written again."""

NO_OUTPUT: Mapping[str, Any] = MappingProxyType({"output": [], "window_s": None, "slide_s": None, "emit": "all"})
"""The fields for windows in the JSON object of a cube that writes no windows."""

Emit = Literal["all", "changes"]
EMITS: tuple[Emit, ...] = ("all", "changes")
OUTPUT_FIELDS = ("output", "window_s", "slide_s", "emit")
_OUTPUT_REMEDY = 'give a list of cuboids, as [["carrier"], []]'


@dataclass(frozen=True, slots=True)
class Output:
    """The parameters of a cube's windows.

    ``cuboids``: the output cuboids, whose groups are written. ``window_s``: the length of a window. ``slide_s``: the
    time between the ends of two successive windows. ``emit``: whether all groups of a window are written, or only the
    groups whose measures differ from the preceding window. Invariant: windows and slides consist of whole panes. A
    slide is at most as long as a window. No cuboid occurs twice.
    """

    cuboids: tuple[Levels, ...]
    window_s: int
    slide_s: int
    emit: Emit
    grain_s: int

    @staticmethod
    def parse(plain: Mapping[str, Any], definition: CubeDefinition) -> Output | None:
        """Return the windows that the JSON object of a cube describes. Return None if the cube writes no windows. Raise
        CubeError if the windows are refused.

        >>> cube = {"dimensions": [["origin", "dest"]], "measures": ["count(*)"], "grain_s": 3600}
        >>> definition = CubeDefinition.parse(cube)
        >>> Output.parse({"output": [["dest"]], "window_s": 86400, "slide_s": 3600}, definition).sliding
        Sliding(window=24, slide=1)
        """
        fields = {name: plain[name] for name in OUTPUT_FIELDS if plain.get(name) is not None}
        if fields.get("output") in (None, []):
            fields.pop("output", None)
            if fields.get("emit") == EMITS[0]:
                del fields["emit"]
            other = next(iter(fields), None)
            if other is not None:
                raise CubeError(
                    other, fields[other], 'belongs to windows, and the cube has no output: give output, as [["a"]]'
                )
            return None
        grain_s = definition.grain_s
        if grain_s is None:
            raise CubeError("output", fields["output"], "has no windows without a time: give time and grain")
        cuboids = _cuboids(fields["output"], definition)
        window_s = _multiple("window_s", fields.get("window_s"), grain_s)
        slide_s = _multiple("slide_s", fields.get("slide_s"), grain_s)
        if slide_s > window_s:
            raise CubeError(
                "slide_s", slide_s, f"is longer than the window of {grain_text(window_s)}: give at most that"
            )
        if window_s // grain_s > WINDOW_PANES_MAX:
            remedy = (
                f"is over {WINDOW_PANES_MAX:,} panes of {grain_text(grain_s)}: give a shorter window, or a longer grain"
            )
            raise CubeError("window_s", window_s, remedy)
        if window_s // slide_s > WINDOWS_A_PANE_MAX:
            remedy = (
                f"has a record in over {WINDOWS_A_PANE_MAX:,} windows of {grain_text(window_s)}: give a longer slide"
            )
            raise CubeError("slide_s", slide_s, remedy)
        return Output(cuboids, window_s, slide_s, _emit(fields.get("emit", EMITS[0])), grain_s)

    @property
    def sliding(self) -> Sliding:
        """Return the windows with their length and slide as numbers of panes."""
        return Sliding(self.window_s // self.grain_s, self.slide_s // self.grain_s)

    def plain(self, definition: CubeDefinition) -> dict[str, Any]:
        """Return the windows as fields of a JSON object that :meth:`parse` accepts."""
        names = definition.dimensions.names
        cuboids = [[names[place] for place in definition.dimensions.columns(own)] for own in self.cuboids]
        return {"output": cuboids, "window_s": self.window_s, "slide_s": self.slide_s, "emit": self.emit}

    def summary(self) -> str:
        """Return a short description of the windows."""
        changes = "changes of " if self.emit == "changes" else ""
        return f"writes {changes}windows of {grain_text(self.window_s)} every {grain_text(self.slide_s)}"


def _cuboids(plain: object, definition: CubeDefinition) -> tuple[Levels, ...]:
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise CubeError("output", plain, _OUTPUT_REMEDY)
    if len(plain) > OUTPUTS_MAX:
        raise CubeError("output", len(plain), f"a cube has at most {OUTPUTS_MAX} output cuboids: leave some out")
    cuboids: dict[Levels, None] = {}
    for names in plain:
        if not isinstance(names, Sequence) or isinstance(names, str):
            raise CubeError("output", plain, _OUTPUT_REMEDY)
        try:
            cuboid = definition.dimensions.cuboid_of(names)
        except CubeError as error:
            raise CubeError("output", error.value, error.remedy) from None
        if cuboid in cuboids:
            raise CubeError("output", ", ".join(map(str, names)) or "()", "is there twice: name each cuboid once")
        cuboids[cuboid] = None
    return tuple(cuboids)


def _multiple(name: str, value: object, grain_s: int) -> int:
    if value is None:
        raise CubeError(
            name, None, f"is missing: an output needs window_s and slide_s, multiples of {grain_text(grain_s)}"
        )
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 1 or value % grain_s:
        raise CubeError(name, value, f"is off the grain of {grain_text(grain_s)}: give a multiple of it")
    return value


def _emit(value: object) -> Emit:
    for own in EMITS:
        if value == own:
            return own
    raise CubeError("emit", value, f"is not known: give {' or '.join(EMITS)}")
