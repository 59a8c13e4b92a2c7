"""The installed versions of the locked Python packages, with the native libraries and the Java that they contain."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from tools.audit.component import FILE, PYPI, Component
from tools.audit.errors import AuditError
from tools.audit.licences import from_expression, from_name, from_text

_HASH = re.compile(r"\s--hash=sha256:([0-9a-f]{64})")
_LICENCE_FILE = re.compile(r"(.*/)?(LICEN[SC]E|COPYING)(\.txt|\.md|\.rst)?", re.IGNORECASE)
_NATIVE = re.compile(r"[^/]+\.libs/[^/]+")


@dataclass(frozen=True, slots=True)
class Locked:
    """A line of the lock: one version of a package. ``requirement.marker`` restricts it to some Pythons and systems."""

    requirement: Requirement
    version: str
    sha256: tuple[str, ...]

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def is_for_this_python(self) -> bool:
        return self.requirement.marker is None or self.requirement.marker.evaluate()


def read_lock(path: Path) -> list[Locked]:
    """Return the packages of a lock file, which has the format of uv and pip. Raises AuditError for a line that is not
    one version with its hashes.
    """
    locked = []
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            requirement = Requirement(_HASH.sub("", line))
        except InvalidRequirement as error:
            raise AuditError("line of the lock", line[:80], f"is no requirement: run 'make lock' ({path})") from error
        versions = [specifier.version for specifier in requirement.specifier if specifier.operator == "=="]
        hashes = tuple(_HASH.findall(line))
        if len(versions) != 1 or not hashes:
            raise AuditError("line of the lock", line[:80], f"has no version or no hash: run 'make lock' ({path})")
        locked.append(Locked(requirement, versions[0], hashes))
    return locked


def installed_packages(locked: Sequence[Locked]) -> list[Component]:
    """Return every locked package, including packages for other Pythons and systems.

    Of a package for another Python or system, only the lock is known; if any version of it is installed, the licence of
    that version is used. Raises AuditError if a package for this Python is missing or has another version.
    """
    return [_package(one) for one in locked]


def _package(locked: Locked) -> Component:
    try:
        package = distribution(locked.name)
    except PackageNotFoundError:
        package = None
    if locked.is_for_this_python and (package is None or package.version != locked.version):
        installed = package.version if package else "none"
        raise AuditError("installed version", f"{locked.name} {installed}", f"is not {locked.version}: 'make setup'")
    licence, licence_source = _licence(package) if package else (None, "")
    return Component(
        ecosystem=PYPI,
        name=locked.name,
        version=locked.version,
        place="",
        sha256=locked.sha256,
        licence=licence,
        licence_source=licence_source
        if locked.is_for_this_python
        else licence_source and f"{licence_source} of the installed version",
        marker=str(locked.requirement.marker or ""),
        parts=tuple(_parts(package)) if package and locked.is_for_this_python else (),
    )


def _licence(package: Distribution) -> tuple[str | None, str]:
    metadata = package.metadata
    for field, read in (("License-Expression", from_expression), ("License", from_name)):
        if licence := read((metadata.get_all(field) or [""])[0]):
            return licence, field
    # A classifier names only a family ("BSD License"), so the licence text in the files takes precedence.
    for file in package.files or ():
        if ".dist-info/" in str(file) and _LICENCE_FILE.fullmatch(str(file)):
            text = Path(str(file.locate())).read_text(encoding="utf-8", errors="replace")
            if licence := from_text(text):
                return licence, "licence file"
    classified = [text.rpartition(" :: ")[2] for text in metadata.get_all("Classifier") or [] if "License ::" in text]
    return (from_name(classified[0]), "classifier") if len(classified) == 1 else (None, "")


def _parts(found: Distribution) -> Iterator[Component]:
    """Yield the native libraries and the Java runtime that a wheel contains besides the package."""
    for file in sorted(found.files or (), key=str):
        place = str(file)
        if _NATIVE.fullmatch(place):
            content = Path(str(file.locate())).read_bytes()
            yield Component(FILE, file.name, "", place, sha256=(hashlib.sha256(content).hexdigest(),))
        elif place.endswith("java-runtime/release"):
            text = Path(str(file.locate())).read_text(encoding="utf-8")
            version = re.search(r'^JAVA_VERSION="(.+)"', text, re.MULTILINE)
            yield Component(FILE, "openjdk", version[1] if version else "", place.rpartition("/")[0])
