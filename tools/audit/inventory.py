"""The inventory of the broker's dependencies: the locked packages, the jars in pyspark, and the locked jars."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from broker.runtime.jars import fetch_jars
from broker.runtime.locked_jars import Jar, locked_sets
from tools.audit.component import Component
from tools.audit.jars import Coordinates, read_jar
from tools.audit.packages import installed_packages, read_lock

REQUIREMENTS = Path(__file__).parents[2] / "requirements.lock"


def inventory(groups: Mapping[str, str]) -> list[Component]:
    """Return the packages of ``requirements.lock`` and the jars of ``jars.lock``, ordered by name, each with its parts.

    Jars that are not in the local cache are downloaded first. Raises AuditError or RuntimeMissingError if a package or
    a jar is missing.
    """
    packages = installed_packages(read_lock(REQUIREMENTS))
    with ThreadPoolExecutor() as pool:
        spark = tuple(pool.map(lambda path: read_jar(path, _pyspark_place(path), groups), _pyspark_jars()))
        files = [
            (jar, path)
            for jar_set in locked_sets()
            for jar, path in zip(jar_set.jars, fetch_jars(jar_set), strict=True)
        ]
        jars = list(pool.map(lambda pair: read_jar(pair[1], "", groups, _coordinates(pair[0])), files))
    with_jars = [replace(one, parts=(*one.parts, *spark)) if one.name == "pyspark" else one for one in packages]
    return sorted([*with_jars, *jars], key=lambda component: (component.key, component.version))


def _pyspark_folder() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def _pyspark_jars() -> list[Path]:
    return sorted((_pyspark_folder() / "jars").rglob("*.jar"))


def _pyspark_place(path: Path) -> str:
    return str(path.relative_to(_pyspark_folder().parent))


def _coordinates(jar: Jar) -> Coordinates:
    group, _, artifact = jar.name.partition(":")
    return Coordinates(group, artifact, jar.version)
