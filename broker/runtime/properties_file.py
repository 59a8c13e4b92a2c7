"""Spark properties in a file that only the daemon's user can read. Everybody can read the command line of a process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_MEANS_SOMETHING = re.compile(r"[^0-9A-Za-z._-]")


@contextmanager
def properties_file(properties: Mapping[str, str]) -> Iterator[Path]:
    """Yield a file with these properties in Java's format, of mode 0600 in a folder of mode 0700.

    The file is deleted at the end of the ``with`` block.
    """
    with TemporaryDirectory(prefix="asc-spark-") as folder:
        path = Path(folder) / "spark.properties"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.writelines(f"{_escaped(name)}={_escaped(value)}\n" for name, value in properties.items())
        yield path


def _escaped(text: str) -> str:
    r"""Return a name or value escaped so that Java reads it back unchanged.

    >>> print(_escaped("a = ü"))
    a\u0020\u003d\u0020\u00fc
    """
    units = text.encode("utf-16-be", "surrogatepass")
    characters = (chr(int.from_bytes(units[place : place + 2], "big")) for place in range(0, len(units), 2))
    return "".join(
        f"\\u{ord(character):04x}" if _MEANS_SOMETHING.match(character) else character for character in characters
    )
