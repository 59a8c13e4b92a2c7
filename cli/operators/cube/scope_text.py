"""The texts of the option ``--within``: boxes, geohashes and polygons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Scope = click.ParamType[Any]
else:
    # Earlier versions of Click have no such types at run time.
    _Scope = click.ParamType

_BYTES_MAX = 4 << 20
"""The most bytes of a file with a polygon. A polygon with as many vertices as a question may have is smaller."""
_NAMED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.ASCII | re.DOTALL)


class ScopeText(_Scope):
    """The type of a scope: ``west,south,east,north``, geohashes, GeoJSON, or ``@`` and a file with GeoJSON. ``NAME=``
    before the scope names the dimension.
    """

    name = "scope"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the scope in the form of the API. Raise BadParameter if the text is not a scope."""
        if not isinstance(value, str):
            return value
        match = _NAMED.fullmatch(value.strip())
        scope = self._scope(value.strip() if match is None else match[2].strip(), param, ctx)
        return scope if match is None else {"dimension": match[1], "scope": scope}

    def _scope(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if text.startswith("@"):
            text = self._file(Path(text[1:]), param, ctx)
        if text.startswith("{"):
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                self.fail(f"{text[:60]!r} is no JSON: write GeoJSON, or @ and the name of its file", param, ctx)
            return found
        parts = [part.strip() for part in text.split(",")]
        if not all(parts):
            remedy = "write west,south,east,north, geohashes with commas between them, GeoJSON, or @ and its file"
            self.fail(f"{text!r} is no scope: {remedy}", param, ctx)
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            return parts
        # Geohashes may consist only of digits, so only four numbers are a box.
        return numbers if len(numbers) == 4 else parts

    def _file(self, path: Path, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            with path.open("rb") as file:
                content = file.read(_BYTES_MAX + 1)
            if len(content) > _BYTES_MAX:
                self.fail(f"{str(path)!r} has over {_BYTES_MAX:,} bytes: simplify the polygon", param, ctx)
            return content.decode("utf-8").strip()
        except OSError as error:
            self.fail(f"{str(path)!r} cannot be read: {error.strerror}", param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{str(path)!r} is not UTF-8: write GeoJSON", param, ctx)
