"""The contents of a jar: its coordinates, its licence, and the components packed into it."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

from tools.audit.component import FILE, MAVEN, Component
from tools.audit.errors import AuditError
from tools.audit.licences import from_choice, from_text

_PROPERTIES = re.compile(r"META-INF/maven/[^/]+/[^/]+/pom\.properties")
_LICENCE_FILE = re.compile(r"(META-INF/)?LICEN[SC]E(\.txt|\.md)?", re.IGNORECASE)
_FILE_NAME = re.compile(r"(?P<artifact>.+?)-(?P<version>\d.*)")


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The Maven coordinates of a jar: group, artifact and version."""

    group: str
    artifact: str
    version: str

    @property
    def name(self) -> str:
        return f"{self.group}:{self.artifact}"

    def fits(self, stem: str) -> bool:
        """Return whether a jar with these coordinates may have the file name ``stem``, given without its suffix.
        Example: ``hive-exec-2.3.10-core`` is ``hive-exec`` with a classifier.
        """
        return f"{stem}-".startswith(f"{self.artifact}-{self.version}-")


def read_jar(path: Path, place: str, groups: Mapping[str, str], known: Coordinates | None = None) -> Component:
    """Return a jar as a component. Its coordinates are ``known``. If ``known`` is None, they are read from the jar, or
    derived from the file's name and ``groups``.

    ``groups``: Maven's group by a pattern of artifacts, for jars that were built without Maven. A jar without
    coordinates has the ecosystem "". Raises AuditError if the file is missing or not a jar.
    """
    try:
        content = path.read_bytes()
        with zipfile.ZipFile(path) as jar:
            names = jar.namelist()
            inner = [read for name in names if _PROPERTIES.fullmatch(name) and (read := _properties(jar, name))]
            own_coordinates = known or _own(
                path.stem, [coordinates for _, coordinates in inner], _manifest(jar, names), groups
            )
            licence, licence_source = _licence(jar, names, own_coordinates)
            parts = tuple(
                sorted(
                    _parts(jar, [pair for pair in inner if pair[1] != own_coordinates], place),
                    key=lambda part: part.name,
                )
            )
    except (OSError, zipfile.BadZipFile) as error:
        raise AuditError("jar", str(path), f"cannot be read ({error}): run 'make setup'") from error
    return Component(
        ecosystem=MAVEN if own_coordinates else FILE,
        name=own_coordinates.name if own_coordinates else path.stem,
        version=own_coordinates.version if own_coordinates else "",
        place=place,
        sha256=(hashlib.sha256(content).hexdigest(),),
        licence=licence,
        licence_source=licence_source,
        parts=parts,
    )


def _own(
    stem: str, inner: list[Coordinates], manifest: Mapping[str, str], groups: Mapping[str, str]
) -> Coordinates | None:
    fitting = [coordinates for coordinates in inner if coordinates.fits(stem)]
    if fitting:
        return max(fitting, key=lambda coordinates: len(coordinates.artifact))
    name = _FILE_NAME.fullmatch(stem)
    if name is None:
        return None
    for pattern, group in groups.items():
        if fnmatchcase(name["artifact"], pattern):
            return Coordinates(group, name["artifact"], name["version"])
    vendor = manifest.get("Implementation-Vendor-Id", "")
    return Coordinates(vendor, name["artifact"], name["version"]) if vendor else None


def _properties(jar: zipfile.ZipFile, name: str) -> tuple[str, Coordinates] | None:
    """Return the folder of a file ``pom.properties``, and the coordinates in the file. Return None for a file without
    coordinates, such as a template.
    """
    lines = jar.read(name).decode("utf-8", "replace").splitlines()
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    group, artifact, version = (values.get(key, "") for key in ("groupId", "artifactId", "version"))
    if not (group and artifact and version) or "${" in version:
        return None
    return name.rpartition("/")[0], Coordinates(group, artifact, version)


def _manifest(jar: zipfile.ZipFile, names: list[str]) -> dict[str, str]:
    if "META-INF/MANIFEST.MF" not in names:
        return {}
    # A manifest breaks lines at 72 bytes. Each continuation line begins with a space.
    text = re.sub(r"\r?\n ", "", jar.read("META-INF/MANIFEST.MF").decode("utf-8", "replace"))
    return {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def _licence(jar: zipfile.ZipFile, names: list[str], own: Coordinates | None) -> tuple[str | None, str]:
    if own:
        pom = f"META-INF/maven/{own.group}/{own.artifact}/pom.xml"
        if pom in names and (licence := from_choice(_pom_licences(jar.read(pom)))):
            return licence, "POM"
    # Commas separate licences, but names may contain one, as in "Apache License, Version 2.0". So the whole text is
    # tried first.
    header = _manifest(jar, names).get("Bundle-License", "")
    if licence := from_choice([header]) or from_choice(header.split(",")):
        return licence, "manifest"
    for name in names:
        if _LICENCE_FILE.fullmatch(name) and (licence := from_text(jar.read(name).decode("utf-8", "replace"))):
            return licence, name
    return None, ""


def _pom_licences(pom: bytes) -> list[str]:
    try:
        root = ElementTree.fromstring(pom)
    except ElementTree.ParseError:
        return []
    found = root.findall("{*}licenses/{*}license/{*}name")
    return [element.text or "" for element in found]


def _parts(jar: zipfile.ZipFile, inner: list[tuple[str, Coordinates]], place: str) -> Iterator[Component]:
    """Yield the components that are packed into a jar. The jar contains the ``pom.properties`` of each component, and
    perhaps its POM.
    """
    names = set(jar.namelist())
    for folder, coordinates in inner:
        pom = f"{folder}/pom.xml"
        licence = from_choice(_pom_licences(jar.read(pom))) if pom in names else None
        yield Component(
            MAVEN,
            coordinates.name,
            coordinates.version,
            place,
            licence=licence,
            licence_source="POM" if licence else "",
        )
