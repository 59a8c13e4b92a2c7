"""The components of the broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PYPI = "PyPI"
MAVEN = "Maven"
FILE = ""


@dataclass(frozen=True, slots=True)
class Component:
    """A package, a jar, or a file within one, with what is packed into it.

    Invariant: ``ecosystem`` and ``name`` are as OSV has them: a normalised name of PyPI, or Maven's group:artifact. A
    component of no registry (a native library, a Java runtime) has the ecosystem "" and is looked up nowhere.

    ``licence`` is an SPDX expression, or None where nothing that can be read says one; ``told_by`` says where it was
    read. ``sha256`` are hexadecimal: one of a file, all of the archives that the lock allows of a package, none where
    only a part of a jar is left. ``place`` is the path to a part: ``pyspark/jars/hadoop-client-api-3.4.1.jar``.
    """

    ecosystem: str
    name: str
    version: str
    place: str
    sha256: tuple[str, ...] = ()
    licence: str | None = None
    told_by: str = ""
    marker: str = ""
    parts: tuple[Component, ...] = ()

    def __str__(self) -> str:
        own = f"{self.name} {self.version}".rstrip()
        return f"{own} ({self.place})" if self.place else own

    @property
    def key(self) -> str:
        """The name of the component in the policy files, the same for every version: ``Maven/group:artifact``."""
        return f"{self.ecosystem or 'file'}/{self.name}"


def everything(components: Sequence[Component]) -> Iterator[Component]:
    """Yield the components with all of their parts, each before its own parts."""
    for component in components:
        yield component
        yield from everything(component.parts)
