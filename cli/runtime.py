"""``asc runtime``: the software that the broker needs, and its transfer to a machine without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.command import Group, examples
from cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from broker.runtime.locked_jars import JarSet


@click.group(
    cls=Group,
    epilog=examples(
        "asc runtime show",
        "asc runtime prepare",
        "asc runtime bundle asc-jars.tar",
        "asc runtime load asc-jars.tar",
        "asc runtime pack asc-packages.tar.gz",
    ),
)
def runtime() -> None:
    """Look at what the broker runs on; carry its jars to a machine without a network, its packages to a cluster.

    Java comes with the packages. The jars of Spark's Kafka connector and of the embedded Kafka are fetched once into a
    cache (ASC_CACHE_DIR), from the Maven repository that ASC_MAVEN_URL names. The proxies of the environment
    (HTTPS_PROXY) and the certificates of the system (SSL_CERT_FILE) are taken. Each is checked against its locked
    SHA-256.
    """


@runtime.command(
    epilog=examples(
        "asc runtime show",
        "asc runtime show --json",
    ),
)
@json_option
def show(as_json: bool) -> None:
    """Say which Java is taken, which jars are there, and where they come from."""
    from asc.errors import AscError
    from broker.runtime.cache import cache_folder
    from broker.runtime.jars import is_complete, jars_folder
    from broker.runtime.java import find_java
    from broker.runtime.locked_jars import locked_sets
    from broker.runtime.repository import repository_url, shown

    try:
        java = find_java()
        rows = [("java", f"{java.version} ({java.source})", str(java.home))]
    except AscError as error:
        rows = [("java", "missing", str(error))]
    for jar_set in locked_sets():
        state = "there" if is_complete(jar_set) else "not there"
        rows.append((jar_set.name, f"{state} ({_jars(jar_set)})", str(jars_folder() / jar_set.folder_name)))
    rows += [("cache", "", str(cache_folder())), ("repository", "", shown(repository_url()))]
    headings = ["part", "state", "place"]
    if as_json:
        print_json([dict(zip(headings, row, strict=True)) for row in rows])
    else:
        print_table(headings, rows)


@runtime.command(epilog=examples("asc runtime prepare"))
def prepare() -> None:
    """Do now what a first start would do, and what makes each start faster.

    Fetches the jars, compiles the kernels, and archives Spark's classes: Spark's JVM has half as much to do then when
    it starts. That takes half a minute and 150 MB of the cache, once for each Java and PySpark.
    """
    from broker.runtime.prepare import prepare as prepare_runtime

    prepare_runtime(click.echo, _say)


def bundle_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument FILE, the bundle to write or read, and ``--json`` for the description of its content."""
    return click.argument("file", type=click.Path(path_type=Path))(json_option(command))


@runtime.command(
    epilog=examples(
        "asc runtime bundle asc-jars.tar",
        "asc runtime bundle --force /mnt/usb/asc-jars.tar",
    ),
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@bundle_file
def bundle(file: Path, force: bool, as_json: bool) -> None:
    """Write every jar the broker needs into FILE, a tar of about 55 MB.

    Jars that the cache lacks are fetched first. 'asc runtime load' of the same version reads it on another machine.
    """
    from broker.runtime.bundle import write_bundle

    _print_sets(write_bundle(file, _say, replace=force), as_json)


@runtime.command(
    epilog=examples(
        "asc runtime load asc-jars.tar",
        "ASC_CACHE_DIR=/opt/asc-cache asc runtime load asc-jars.tar",
    ),
)
@bundle_file
def load(file: Path, as_json: bool) -> None:
    """Fill the cache from FILE, which 'asc runtime bundle' wrote. Needs no network.

    Each jar is checked against its locked SHA-256. All are taken, or none.
    """
    from broker.runtime.bundle import load_bundle

    _print_sets(load_bundle(file, _say), as_json)


@runtime.command(
    epilog=examples(
        "asc runtime pack asc-packages.tar.gz",
        "asc runtime pack --force /mnt/shared/asc-packages.tar",
    ),
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def pack(file: Path, force: bool, as_json: bool) -> None:
    """Write what the Python workers of a cluster import into FILE, a .tar.gz of about 220 MB, or a .tar.

    'spark.python_archive' of the configuration names it; Spark carries it to each executor and unpacks it there. The
    hosts need a Python of the same minor version, and nothing installed.
    """
    from broker.runtime.packed import write_packed

    packed = write_packed(file, _say, replace=force)
    if as_json:
        print_json({"file": str(file), "size_bytes": file.stat().st_size, "files": packed.files, "bytes": packed.bytes})
    else:
        click.echo(f"{file}: {file.stat().st_size / 1e6:.0f} MB, {packed.bytes / 1e6:.0f} MB unpacked")


def _print_sets(sets: tuple[JarSet, ...], as_json: bool) -> None:
    from broker.runtime.jars import jars_folder

    if as_json:
        print_json(
            [
                {
                    "set": jar_set.name,
                    "artifact": str(jar_set),
                    "jars": len(jar_set.jars),
                    "size_bytes": jar_set.size_bytes,
                    "folder": str(jars_folder() / jar_set.folder_name),
                }
                for jar_set in sets
            ]
        )
    else:
        rows = [(jar_set.name, str(jar_set), len(jar_set.jars), jar_set.size_bytes) for jar_set in sets]
        print_table(["set", "artifact", "jars", "bytes"], rows)


def _jars(jar_set: JarSet) -> str:
    return f"{len(jar_set.jars)} jars, {jar_set.size_bytes / 1e6:.0f} MB"


def _say(line: str) -> None:
    click.echo(line, err=True)
