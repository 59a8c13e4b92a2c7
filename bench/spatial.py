"""The performance of a million fences: listed blocks compared with shapely's tree of boxes, and one star with very many
vertices.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import shapely
from tqdm import tqdm

from asc.evaluation.executor import match
from asc.keys.attribute import PAttribute, matched, position
from asc.keys.constraint import Constraint
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from asc.spatial.index import ShapeIndex, Shapes
from asc.spatial.shape import CONTAINS, Asked, keys_of_areas
from bench import sedona_db
from bench.machine import machine
from bench.plot import plot_peers
from bench.result_file import write_result
from bench.spatial_served import one_more
from bench.spatial_spark import FENCES, through_spark
from bench.timed import medians_in_turns, timed
from workloads.fences import fences
from workloads.real_data import VARIABLE

ENGINE, TREE, PREPARED, SEDONA = "asc", "STRtree.query", "STRtree, prepared", "SedonaDB"
WORKLOAD = "fences"

Reals = npt.NDArray[np.float64]

_POSITION = position([PAttribute(name, pa.float64(), (name,)) for name in ("longitude", "latitude")], is_planar=False)
_MEETS = Constraint((((1, 0), (1, 1)),))


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the measurement.

    ``fences``: the numbers of fences. ``positions``: the number of positions of a batch. ``repetitions``: the number of
    runs of each contender. ``star_vertices`` and ``star_positions``: the number of vertices of the star, and the number
    of positions that are matched with the star. ``spark_fences`` and ``spark_rows``: the numbers of fences and of
    records of the measurement with Spark. ``more``: the number of fences added over HTTP; with 0, no daemon is started.
    """

    fences: tuple[int, ...]
    positions: int
    repetitions: int
    star_vertices: int
    star_positions: int
    spark_fences: int
    spark_rows: int
    more: int


FULL = Size((1_000, 10_000, 100_000, 1_000_000), 100_000, 5, 100_000, 2_000, 100_000, 1_000_000, 50)
QUICK = Size((50, 400), 500, 1, 500, 50, 400, 2_000, 0)


def run(*, quick: bool, output_dir: Path) -> dict[str, Any]:
    """Measure everything, write ``spatial.json`` and its plot into the folder, and return the content of the JSON file.

    All contenders run alternately on one thread, over the same positions. The positions are in the order of their
    cells, which is also the fastest order for shapely. Shapely's tree and its prepared shapes are made in advance.
    SedonaDB runs if it is installed. Sedona on Spark runs if its jar is named. Raises RuntimeError if the numbers of
    matches differ from shapely's. The number of matches of SedonaDB is only reported, because SedonaDB and GEOS differ
    for positions close to edges.
    """
    size = QUICK if quick else FULL
    folder = os.environ.get(VARIABLE)
    results: list[dict[str, Any]] = []
    recorded = False
    for count in tqdm(size.fences, leave=False, disable=None):
        drawn = fences(count, Path(folder) if folder else None)
        recorded = drawn.recorded
        results += _measured(drawn.shapes, _in_cell_order(drawn.positions, size.positions), size)
    result = {
        "benchmark": "spatial",
        "quick": quick,
        "machine": machine(),
        "shapely": shapely.__version__,
        "geos": shapely.geos_version_string,
        "sedona_db": sedona_db.version(),
        "recorded": recorded,
        "positions": size.positions,
        "results": results,
        "star": _star(size),
        "spark": _through_spark(size, Path(folder) if folder else None),
        "http": _over_http(size, Path(folder) if folder else None) if size.more else None,
    }
    write_result(output_dir, "spatial", result)
    plot_peers(result, output_dir / "spatial")
    return result


def table(result: dict[str, Any]) -> str:
    """Return the result as text: microseconds per position of each contender, and the cost of the index."""
    kind = "recorded aircraft and shapes" if result["recorded"] else "made positions and shapes"
    lines = [f"{result['positions']:,} positions, {kind}; us a position, one thread", ""]
    names = list(dict.fromkeys(row["contender"] for row in result["results"]))
    heads = "".join(f"{name:>20}" for name in names)
    lines.append(f"{'fences':>10}{heads}{'matches':>9}{'plan s':>8}{'index s':>9}{'bytes':>7}{'one more ms':>13}")
    for count in dict.fromkeys(row["queries"] for row in result["results"]):
        own = {row["contender"]: row for row in result["results"] if row["queries"] == count}
        times = "".join(f"{own[name]['us']:>20.3f}" for name in names)
        more = own[ENGINE]
        lines.append(
            f"{count:>10,}{times}{more['matches_a_position']:>9.3f}{more['build_s']:>8.2f}"
            f"{more['index_s']:>9.2f}{more['index_bytes_a_fence']:>7.0f}{more['one_more_ms']:>13.1f}"
        )
    for row in result["results"]:
        (engine,) = (e for e in result["results"] if (e["queries"], e["contender"]) == (row["queries"], ENGINE))
        if row["matches"] != engine["matches"]:
            others = f"{row['contender']} finds {row['matches']:,} matches, the others {engine['matches']:,}"
            lines.append(f"{row['queries']:,} fences: {others}")
    star = result["star"]
    lines += ["", f"a star of {star['vertices']:,} vertices: {star[ENGINE]:.1f} us a position, GEOS {star['GEOS']:.1f}"]
    through = result["spark"]
    ratio, seconds = through["ratio"], through["median_s"]
    lines.append(
        f"broker.match, {through['rows']:,} records, {through['fences']:,} fences: {seconds[FENCES]:.2f} s, "
        f"{ratio['ratio']:.2f} times one plain predicate ({ratio['low']:.2f} to {ratio['high']:.2f})"
    )
    sedona = through["sedona"]
    if sedona is not None:
        took = f"{sedona['median_s']:.2f} s" if "median_s" in sedona else f"over {sedona['stopped_after_s']:.0f} s"
        lines.append(f"Sedona on Spark, the same records and fences: {took}")
    more = result["http"]
    if more is not None:
        taken = f"{more['change_p50_s'] * 1e3:.0f} ms, at worst {more['change_worst_s'] * 1e3:.0f} ms"
        lines.append(
            f"one fence more among {more['fences']:,} over HTTP: {taken}; all loaded in {more['load_s']:.1f} s"
        )
    return "\n".join(lines)


# -- fences


def _measured(shapes: npt.NDArray[Any], places: Reals, size: Size) -> list[dict[str, Any]]:
    queries = [_query(number, key) for number, key in enumerate(keys_of_areas(shapes, CONTAINS))]
    start_s = time.perf_counter()
    plan = compile_plan(queries)
    build_s = time.perf_counter() - start_s
    (block,) = plan.listed
    own = block.shapes
    index_s = timed(lambda: ShapeIndex.of(own, np.arange(len(own), dtype=np.int32)))
    column = pa.StructArray.from_arrays([pa.array(own) for own in places.T.copy()], fields=list(_POSITION.type))
    contenders: dict[str, Callable[[], int]] = {
        ENGINE: lambda: len(match(plan, [column], len(places))),
        **_rivals(shapes, places),
    }
    if sedona_db.version() is not None:
        contenders[SEDONA] = sedona_db.joined(shapes, places)
    counts = {name: work() for name, work in contenders.items()}
    if len({count for name, count in counts.items() if name != SEDONA}) > 1:
        raise RuntimeError(f"{len(shapes)} fences: numbers of matches differ: {counts}")
    medians = medians_in_turns(contenders, size.repetitions)
    one_more = [
        timed(lambda: change_plan(plan, [_query(len(queries), Asked(shapes[0], CONTAINS).key)])) for _ in range(5)
    ]
    more = {
        "matches_a_position": counts[ENGINE] / len(places),
        "build_s": build_s,
        "index_s": index_s,
        "index_bytes_a_fence": (block.nbytes - block.dictionaries[block.slot].data.nbytes) / len(shapes),
        "vertex_bytes_a_fence": block.dictionaries[block.slot].data.nbytes / len(shapes),
        "one_more_ms": sorted(one_more)[2] * 1e3,
    }
    return [
        {
            "workload": WORKLOAD,
            "queries": len(shapes),
            "contender": name,
            "us": seconds / len(places) * 1e6,
            "matches": counts[name],
            **(more if name == ENGINE else {}),
        }
        for name, seconds in medians.items()
    ]


def _rivals(shapes: npt.NDArray[Any], places: Reals) -> dict[str, Callable[[], int]]:
    """Return the two rivals that use shapely. The first uses a tree that finds the shapes that contain a point. The
    second uses a tree of boxes, and then checks the prepared shapes that the tree finds.

    Like the engine, both receive coordinates. They make the points from the coordinates within the measured time.
    """
    tree = shapely.STRtree(shapes)
    prepared = shapes.copy()
    shapely.prepare(prepared)

    def query() -> int:
        return int(tree.query(shapely.points(places), predicate="within").shape[1])

    def verify() -> int:
        rows, numbers = tree.query(shapely.points(places))
        return int(np.count_nonzero(shapely.contains_xy(prepared[numbers], places[rows, 0], places[rows, 1])))

    return {TREE: query, PREPARED: verify}


def _star(size: Size) -> dict[str, Any]:
    """Measure one star, a shape with very many vertices whose edges all pass near its middle."""
    random = np.random.default_rng(0)
    angle = np.sort(random.random(size.star_vertices)) * 2 * np.pi
    reach = random.uniform(1.0, 10.0, size.star_vertices)
    shape = shapely.Polygon(np.column_stack([reach * np.cos(angle), reach * np.sin(angle)]))
    places = _in_cell_order(random.uniform(-10, 10, (size.star_positions, 2)), size.star_positions)
    start_s = time.perf_counter()
    plan = compile_plan([_query(0, Asked(shape, CONTAINS).key)])
    build_s = time.perf_counter() - start_s
    column = pa.StructArray.from_arrays([pa.array(own) for own in places.T.copy()], fields=list(_POSITION.type))
    prepared = shapely.Polygon(shape)
    shapely.prepare(prepared)
    contenders: dict[str, Callable[[], int]] = {
        ENGINE: lambda: len(match(plan, [column], len(places))),
        "GEOS": lambda: int(np.count_nonzero(shapely.contains_xy(prepared, places[:, 0], places[:, 1]))),
    }
    found = {name: work() for name, work in contenders.items()}
    if len(set(found.values())) > 1:
        raise RuntimeError(f"the star: numbers of matches differ: {found}")
    medians = medians_in_turns(contenders, size.repetitions)
    median_us = {name: seconds / len(places) * 1e6 for name, seconds in medians.items()}
    return {"vertices": size.star_vertices, "positions": len(places), "build_s": build_s, **median_us}


def _through_spark(size: Size, folder: Path | None) -> dict[str, Any]:
    drawn = fences(size.spark_fences, folder)
    plan = compile_plan([_query(number, key) for number, key in enumerate(keys_of_areas(drawn.shapes, CONTAINS))])
    return through_spark(plan, drawn.shapes, drawn.positions[: size.positions], size.spark_rows, 2 * size.repetitions)


def _over_http(size: Size, folder: Path | None) -> dict[str, Any]:
    return one_more(fences(size.spark_fences + size.more, folder).shapes, size.more)


# -- parts of both


def _query(number: int, key: bytes) -> Query:
    """Return the query that the compiler makes of ``ST_Contains(ST_GeomFromText('...'), ST_Point(longitude,
    latitude))``.
    """
    return Query(f"q{number:07}", Predicate("", (((matched(_POSITION, key), _MEETS),),)))


def _in_cell_order(places: Reals, count: int) -> Reals:
    none = Shapes.of(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8))
    index = ShapeIndex.of(none, np.empty(0, dtype=np.int32))
    some = places[:count]
    return some[np.argsort(index.cell_keys(some[:, 0].copy(), some[:, 1].copy()), kind="stable")]
