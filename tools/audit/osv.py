"""Known vulnerabilities from OSV, requested over the network or looked up in downloaded records."""

from __future__ import annotations

import json
import ssl
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import truststore
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.audit.component import MAVEN, PYPI, Component
from tools.audit.errors import NoDataError
from tools.audit.maven_version import MavenVersion

API = "https://api.osv.dev"
_QUERIES_AT_ONCE = 500
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A known vulnerability of one version. ``names``: its names in several databases, OSV's id first. ``summary``: a
    summary in one line.
    """

    names: tuple[str, ...]
    summary: str

    def __str__(self) -> str:
        # Several databases list one vulnerability under different ids. They share only the CVE id.
        cve = next((name for name in self.names if name.startswith("CVE-")), self.names[0])
        return f"{cve} ({self.summary})" if self.summary else cve


Found = Mapping[_Key, Sequence[Vulnerability]]


def key(component: Component) -> _Key:
    """Return the ecosystem, the name and the version by which OSV identifies a component."""
    return component.ecosystem, component.name, component.version


def ask(components: Iterable[Component], timeout_s: float, api: str = API) -> Found:
    """Return the vulnerabilities that OSV knows of the components; components of no registry are excluded.

    Raises NoDataError if OSV does not answer within ``timeout_s`` seconds, or gives an unexpected answer.
    """
    keys = sorted({key(component) for component in components if component.ecosystem})
    ids: dict[_Key, list[str]] = {}
    try:
        # Trust the certificates of the system, as the download of jars does. httpx has a separate list.
        certificates = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        with httpx.Client(base_url=api, timeout=timeout_s, verify=certificates) as client:
            for first in range(0, len(keys), _QUERIES_AT_ONCE):
                ids.update(_ids(client, keys[first : first + _QUERIES_AT_ONCE]))
            records = {name: _json(client.get(f"/v1/vulns/{name}")) for name in sorted({*_flat(ids.values())})}
        vulnerabilities = {
            name: _vulnerability(record) for name, record in records.items() if not record.get("withdrawn")
        }
    except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError) as error:
        said = str(error) or type(error).__name__
        raise NoDataError("OSV", api, f"cannot be asked ({said}): try again, or name a download by --osv") from error
    return {
        key: _distinct(vulnerabilities[name] for name in names if name in vulnerabilities) for key, names in ids.items()
    }


def look_up(components: Iterable[Component], folder: Path) -> Found:
    """Return the vulnerabilities that downloaded records of OSV contain for the components. The records are JSON files
    in the folder, or in ZIP archives in the folder.

    The folder may have subfolders. Raises NoDataError if a file cannot be read, or if there is no record of an
    ecosystem.
    """
    wanted: dict[tuple[str, str], dict[str, list[Vulnerability]]] = {}
    for ecosystem, name, version in {key(component) for component in components if component.ecosystem}:
        wanted.setdefault((ecosystem, name), {})[version] = []
    seen = set()
    for record in _records(folder):
        for affected in record.get("affected") or []:
            package = affected.get("package", {})
            ecosystem = str(package.get("ecosystem", "")).partition(":")[0]
            seen.add(ecosystem)
            name = str(package.get("name", ""))
            name = canonicalize_name(name) if ecosystem == PYPI else name
            for version, found in wanted.get((ecosystem, name), {}).items():
                if not record.get("withdrawn") and _is_affected(affected, ecosystem, version):
                    found.append(_vulnerability(record))
    if lacking := sorted({ecosystem for ecosystem, _ in wanted} - seen):
        raise NoDataError("folder", str(folder), f"has no record of {lacking[0]}: download OSV's of it as well")
    return {
        (ecosystem, name, version): _distinct(found)
        for (ecosystem, name), versions in wanted.items()
        for version, found in versions.items()
    }


def _ids(client: httpx.Client, keys: Sequence[_Key]) -> dict[_Key, list[str]]:
    """Return the ids of known vulnerabilities, by component. If an answer has further pages, request these too."""
    ids: dict[_Key, list[str]] = {key: [] for key in keys}
    asked: list[tuple[_Key, dict[str, Any]]] = [
        ((ecosystem, name, version), {"package": {"ecosystem": ecosystem, "name": name}, "version": version})
        for ecosystem, name, version in keys
    ]
    while asked:
        answer = _json(client.post("/v1/querybatch", json={"queries": [query for _, query in asked]}))
        results = answer["results"]
        if len(results) != len(asked):
            raise ValueError(f"{len(results)} answers to {len(asked)} questions")
        further = []
        for (key, query), result in zip(asked, results, strict=True):
            ids[key].extend(known["id"] for known in result.get("vulns", []))
            if token := result.get("next_page_token"):
                further.append((key, {**query, "page_token": token}))
        asked = further
    return ids


def _json(response: httpx.Response) -> dict[str, Any]:
    response.raise_for_status()
    content = response.json()
    if not isinstance(content, dict):
        raise TypeError("no object of JSON")
    return content


def _flat(lists: Iterable[Iterable[str]]) -> Iterator[str]:
    return (name for names in lists for name in names)


def _vulnerability(record: Mapping[str, Any]) -> Vulnerability:
    names = (record["id"], *(record.get("aliases") or []))
    severity = (record.get("database_specific") or {}).get("severity", "")
    summary = " ".join(str(record.get("summary", "")).split())
    return Vulnerability(names, ", ".join(text for text in (str(severity).lower(), summary) if text))


def _distinct(found: Iterable[Vulnerability]) -> list[Vulnerability]:
    """Return the vulnerabilities without duplicates. Vulnerabilities that share a name are duplicates, because several
    databases list the same vulnerability.
    """
    kept: list[Vulnerability] = []
    for one in sorted(found, key=lambda one: one.names):
        if not any({*one.names} & {*other.names} for other in kept):
            kept.append(one)
    return kept


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    try:
        for path in sorted(folder.rglob("*.json")):
            yield _record(path.read_bytes(), str(path))
        for path in sorted(folder.rglob("*.zip")):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith(".json"):
                        yield _record(archive.read(name), f"{path}/{name}")
    except (OSError, zipfile.BadZipFile) as error:
        raise NoDataError("folder", str(folder), f"cannot be read ({error}): download it again") from error


def _record(content: bytes, place: str) -> dict[str, Any]:
    try:
        record = json.loads(content)
    except ValueError as error:
        raise NoDataError("file", place, f"is no JSON ({error}): download it again") from error
    if not isinstance(record, dict) or "id" not in record:
        raise NoDataError("file", place, "is no record of OSV: take it out of the folder")
    return record


def _is_affected(affected: Mapping[str, Any], ecosystem: str, version: str) -> bool:
    """Return whether a record lists a version as affected, or has a range of affected versions that contains it."""
    if version in (affected.get("versions") or []):
        return True
    return any(
        _is_within(limits.get("events", []), ecosystem, version)
        for limits in affected.get("ranges") or []
        if limits.get("type") in ("ECOSYSTEM", "SEMVER")
    )


def _is_within(events: Sequence[Mapping[str, str]], ecosystem: str, version: str) -> bool:
    """Return whether a version is in a range of affected versions. The range is a list of events such as "introduced"
    and "fixed"; the last event at or before the version decides.
    """
    here = _ordered(ecosystem, version)
    last_place, affected = None, False
    for kind, at in (pair for event in events for pair in event.items()):
        place = None if at == "0" else _ordered(ecosystem, at)
        if here is None or place is None:
            # The version "0" precedes all versions. A version that cannot be ordered counts as affected: as later than
            # the version that introduced the flaw, and as earlier than the version that fixed it.
            affected = affected or (last_place is None and kind == "introduced")
        # The version ``last_affected`` is itself affected, the version ``fixed`` is not.
        elif (place < here if kind == "last_affected" else place <= here) and (
            last_place is None or last_place <= place
        ):
            last_place, affected = place, kind == "introduced"
    return affected


def _ordered(ecosystem: str, version: str) -> Any:
    """Return a version in a form that is comparable within its ecosystem. Return None for a Python version number that
    does not follow PEP 440.
    """
    if ecosystem == MAVEN:
        return MavenVersion(version)
    try:
        return Version(version)
    except InvalidVersion:
        return None
