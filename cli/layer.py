"""``asc layer``: the shapes that predicates name."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from asc.spatial.reading import Rules
from broker.answers.refusal import RefusedLine
from broker.client.client import Client
from broker.client.errors import RefusedError
from broker.visible_text import visible
from cli.client import Json, server_options
from cli.command import Command, Group, examples
from cli.failure import CommandError
from cli.file_options import EXISTING_FILE
from cli.output import counted, json_option, print_json, print_table

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

_SENT_CHARS = 4 << 20
"""The most characters of rows that are sent in one request. A request with only one row may be larger."""

_SENT_ROWS = 5_000
_NOTICES_SHOWN = 20
_BECAME = ("added", "changed", "unchanged")


@click.group(
    cls=Group,
    epilog=examples(
        "asc layer put countries countries.geojson --id ADM0_A3",
        "asc layer list",
        "asc layer show countries CHE",
        "asc layer remove countries CHE",
    ),
)
def layer() -> None:
    """List, show, change and remove the shapes of a layer.

    A predicate names a shape as shape('layer', 'id'). A layer is a compacted Kafka topic of GeoJSON Features. The table
    [layers.NAME] of the configuration names the topic. A change of a shape takes effect from the next batch on, in
    every predicate that names the shape.
    """


@layer.command(
    cls=Command,
    epilog=examples(
        "asc layer put countries countries.geojson --id ADM0_A3",
        "asc layer put zones zones.csv --id zone --repair",
        "asc layer put zones zones.ndjson --prune --dry-run",
        "asc layer put zones zones.ndjson --prune",
    ),
)
@click.argument("name")
@click.argument("file", type=EXISTING_FILE)
@click.option("--id", "id_property", metavar="NAME", help="The property, or column, that names a shape.")
@click.option("--repair", is_flag=True, help="Mend what GEOS calls invalid, and say what changed.")
@click.option("--prune", is_flag=True, help="Remove what the layer has and the file has not.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@server_options
@json_option
def put(
    *,
    client: Client,
    name: str,
    file: Path,
    id_property: str | None,
    repair: bool,
    prune: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put the shapes of a file into a layer, each in place of the one of its id.

    FILE is GeoJSON (.geojson, .json), a Feature a line (.ndjson), or CSV with a column of WKT (.csv); also with .gz.
    Without --id a shape has the Feature's own id, else its property 'id'. A refused shape is named and excluded: the
    exit code is 1 then. Prints how many shapes are new, changed and as they were, how many the layer had and has, and
    its bounds: the least and greatest x and y.
    """
    before = client.layers.show(name)
    rules = Rules(before["crs"] == "planar", before["allow_edges_over_180_deg"], repair)
    upload = _Put(file, rules, id_property, dry_run)
    offsets: Json = {}
    with tqdm(unit=" shapes", desc=name, leave=False, disable=None) as bar:
        for piece in _pieces(upload.lines()):
            offsets = upload.put(client, name, piece) or offsets
            bar.update(len(piece))
    # A refused shape is in the file, so its former version in the layer must not be pruned.
    gone = (
        sorted({one["id"] for one in client.layers.shapes(name)}.difference(upload.ids, upload.refused))
        if prune
        else []
    )
    for piece in () if dry_run else _pieces(json.dumps({"remove": shape_id}) for shape_id in gone):
        offsets = client.layers.put(name, "\n".join(piece).encode())["effective_offsets"]
    counts = {**{key: upload.became[key] for key in _BECAME}, "removed": len(gone)}
    if dry_run:
        rows, bounds = before["rows"] + counts["added"] - len(gone), upload.bounds
    else:
        after = client.layers.show(name)
        rows, bounds = after["rows"], after["bounds"]
    if as_json:
        sizes = {"rows_before": before["rows"], "rows": rows, "file_bounds" if dry_run else "bounds": bounds}
        said = {"refused": upload.refused, "warnings": upload.warnings, "effective_offsets": offsets}
        print_json({"put": len(upload.ids), **counts, **sizes, **said})
    else:
        _print_counts(f"{name} (dry run)" if dry_run else name, {**counts, "refused": len(upload.refused)})
        whose = "the file's bounds" if dry_run else "bounds"
        click.echo(f"shapes: {before['rows']:,} before, {rows:,} now; {whose}: {_bounds_text(bounds) or 'none'}")
        _say(upload.warnings, "warning")
    if upload.refused:
        _say(upload.refused, "refused")
        remedy = "nothing was changed" if dry_run else f"the others are in layer '{name}'"
        raise CommandError("shapes that are refused:", len(upload.refused), remedy)


def _print_counts(name: str, counts: Mapping[str, int]) -> None:
    parts = [f"{number:,} {what}" for what, number in counts.items() if number] or ["no shape"]
    click.echo(f"{name}: {', '.join(parts)}")


class _Put:
    """The upload of a file of shapes: it reads rows as lines, sends them, and counts the outcomes. ``became``: the
    numbers of added, changed and unchanged shapes. ``refused``, ``warnings``: reasons by the id of the shape.
    """

    def __init__(self, file: Path, rules: Rules, id_property: str | None, dry_run: bool) -> None:
        self._file, self._rules, self._id_property, self._dry_run = file, rules, id_property, dry_run
        self.became: Counter[str] = Counter()
        self.bounds: list[float] | None = None
        self.ids: dict[str, None] = {}
        self.refused: dict[str, str] = {}
        self.warnings: dict[str, str] = {}

    def lines(self) -> Iterator[str]:
        """Yield a line for each row of the file that is not refused. Raise AscError if the whole file is refused."""
        from asc.errors import ShapeError
        from asc.layer_file import file_rows
        from asc.spatial.feature import feature_document

        for entry in file_rows(self._file, self._rules, self._id_property):
            if isinstance(entry.row, ShapeError):
                is_invalid = entry.row.subject == "invalid shape" and not self._rules.repairs
                self.refused[entry.id] = f"{entry.row.value} (--repair mends it)" if is_invalid else str(entry.row)
                continue
            if entry.row.warnings:
                self.warnings[entry.id] = "; ".join(entry.row.warnings)
            self.ids[entry.id] = None
            self._enlarge(entry.row.shape)
            yield json.dumps({"id": entry.id, **feature_document(entry.row)}, separators=(",", ":"))

    def _enlarge(self, shape: BaseGeometry | None) -> None:
        if shape is None or shape.is_empty:
            return
        west, south, east, north = shape.bounds
        one = self.bounds or [west, south, east, north]
        self.bounds = [min(one[0], west), min(one[1], south), max(one[2], east), max(one[3], north)]

    def put(self, client: Client, name: str, piece: Sequence[str]) -> Json:
        """Send some lines to the daemon. Return for each stream the offsets from which on the change is effective."""
        errors: Sequence[RefusedLine]
        try:
            answer = client.layers.put(name, "\n".join(piece).encode(), keep_going=True, dry_run=self._dry_run)
            errors, offsets = answer.get("errors", []), answer["effective_offsets"]
            self.became.update(added=answer["added"], changed=answer["changed"], unchanged=answer["unchanged"])
        except RefusedError as error:
            if not error.lines:
                raise
            errors, offsets = error.lines, {}
        for one in errors:
            shape_id = json.loads(piece[one["line"] - 1])["id"]
            del self.ids[shape_id]
            self.warnings.pop(shape_id, None)
            self.refused[shape_id] = one["error"]["message"]
        return offsets


@layer.command("list", cls=Command, epilog=examples("asc layer list", "asc layer list --json"))
@server_options
@json_option
def list_layers(*, client: Client, as_json: bool) -> None:
    """List the layers of the daemon's configuration."""
    found = client.layers.list()
    if as_json:
        print_json(found)
        return
    rows = [[one["name"], one["topic"], one["crs"], f"{one['rows']:,}", one["refused"]] for one in found]
    print_table(["layer", "topic", "crs", "shapes", "refused"], rows)


@layer.command(
    cls=Command,
    epilog=examples("asc layer show countries", "asc layer show countries CHE", "asc layer show zones --prefix north-"),
)
@click.argument("name")
@click.argument("shape_id", metavar="[ID]", required=False)
@click.option("--prefix", default="", metavar="TEXT", help="Only shapes whose id begins so.")
@click.option(
    "--max", "limit", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most so many."
)
@server_options
@json_option
def show(*, client: Client, name: str, shape_id: str | None, prefix: str, limit: int, as_json: bool) -> None:
    """Show a layer: its shapes, and the Features that are refused. With ID, one shape as a GeoJSON Feature."""
    if shape_id is not None:
        print_json(client.layers.shape(name, shape_id))
        return
    plain_layer = client.layers.show(name)
    shapes: list[Json] = []
    for one in client.layers.shapes(name, prefix):
        shapes.append(one)
        if len(shapes) == limit:
            break
    if as_json:
        print_json({**plain_layer, "shapes": shapes})
        return
    bounds = f", bounds {_bounds_text(plain_layer['bounds'])}" if plain_layer["bounds"] else ""
    click.echo(
        f"{name}: {counted(plain_layer['rows'], 'shape')} in topic {plain_layer['topic']}, {plain_layer['crs']}{bounds}"
    )
    print_table(["id", "kind", "vertices", "bounds"], [_row(one) for one in shapes])
    if plain_layer["rows"] > len(shapes) and not prefix:
        click.echo(f"... and {plain_layer['rows'] - len(shapes):,} more (--max, --prefix)")
    if plain_layer["unkeyed"]:
        click.echo(f"{counted(plain_layer['unkeyed'], 'record')} without a key that is an id")
    _say({one["id"]: one["reason"] for one in plain_layer["refusals"]}, "refused")


@layer.command(cls=Command, epilog=examples("asc layer remove zones old-town", "asc layer remove zones a b c"))
@click.argument("name")
@click.argument("shape_ids", metavar="ID...", nargs=-1, required=True)
@server_options
@json_option
def remove(*, client: Client, name: str, shape_ids: Sequence[str], as_json: bool) -> None:
    """Remove shapes. A predicate that names one is NULL there from then on, until it is put again."""
    for shape_id in shape_ids:
        answer = client.layers.remove(name, shape_id)
        if as_json:
            print_json({"id": shape_id, **answer})
        else:
            click.echo(f"removed {name}/{visible(shape_id)}, version {answer['version']}")


def _pieces(lines: Iterator[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for line in lines:
        if piece and (size + len(line) > _SENT_CHARS or len(piece) >= _SENT_ROWS):
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += len(line) + 1
    if piece:
        yield piece


def _row(shape: Json) -> list[Any]:
    return [visible(shape["id"]), shape["kind"] or "none", f"{shape['vertices']:,}", _bounds_text(shape["bounds"])]


def _bounds_text(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else " ".join(f"{value:.6g}" for value in bounds)


def _say(found: Mapping[str, str], what: str) -> None:
    """Print the notice about each shape. If there are many, print only the first ones and the number of the others."""
    for shape_id, text in islice(found.items(), _NOTICES_SHOWN):
        click.echo(f"{what}: {visible(shape_id)} {visible(text)}", err=True)
    if len(found) > _NOTICES_SHOWN:
        click.echo(f"{what}: ... and {len(found) - _NOTICES_SHOWN:,} more", err=True)
