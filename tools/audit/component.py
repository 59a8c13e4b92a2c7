"""The components of the broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PYPI = "PyPI"
MAVEN = "Maven"
FILE = ""


@dataclass(frozen=True, slots=True)
class Component:
    """A package, a jar, or a file within either, with the components packed into it.

    Invariant: ``ecosystem`` and ``name`` have OSV's form: a normalised name of PyPI, or Maven's group:artifact. A
    component that no package registry lists (a native library, a Java runtime) has the ecosystem "". The audit does not
    look up its vulnerabilities. ``licence`` is an SPDX expression, or None if no readable source states one;
    ``licence_source`` names the source. ``sha256``: hexadecimal hashes. A file has one hash. A package has the hashes
    of all archives that the lock permits. A component of which only a part is packed into a jar has none. ``place`` is
    the path of a file within a package, such as ``pyspark/jars/hadoop-client-api-3.4.1.jar``.
    """

    ecosystem: str
    name: str
    version: str
    place: str
    sha256: tuple[str, ...] = ()
    licence: str | None = None
    licence_source: str = ""
    marker: str = ""
    parts: tuple[Component, ...] = ()

    def __str__(self) -> str:
        own = f"{self.name} {self.version}".rstrip()
        return f"{own} ({self.place})" if self.place else own

    @property
    def key(self) -> str:
        """The component's name in the policy files, equal for all versions: ``Maven/group:artifact``."""
        return f"{self.ecosystem or 'file'}/{self.name}"


def everything(components: Sequence[Component]) -> Iterator[Component]:
    """Yield the components and the parts that are packed into them, at any depth. Each component precedes its parts."""
    for component in components:
        yield component
        yield from everything(component.parts)
