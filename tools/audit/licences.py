"""Normalisation of licence names in packages, POMs, manifests and licence files to SPDX expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from license_expression import ExpressionError, Licensing, get_spdx_licensing

# The names that identify a single licence. The name "BSD" does not, because several licences have this name; the text
# of the licence then decides.
_NAMES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "Apache-2.0": (
            "apache 2",
            "apache 2.0",
            "apache license 2.0",
            "apache license v2.0",
            "apache license, 2.0",
            "apache license, version 2.0",
            "apache software license, version 2.0",
            "the apache license, version 2.0",
            "the apache software license, version 2.0",
            "apache.org/licenses/license-2.0",
            "apache software license",
        ),
        "MIT": ("mit license", "the mit license", "opensource.org/licenses/mit", "opensource.org/licenses/mit-license"),
        "BSD-2-Clause": (
            "bsd 2-clause",
            "bsd 2-clause license",
            "opensource.org/licenses/bsd-2-clause",
        ),
        "BSD-3-Clause": (
            "3-clause bsd license",
            "bsd 3-clause",
            "bsd 3-clause license",
            "modified bsd",
            "new bsd license",
            "the new bsd license",
            "edl 1.0",
            "eclipse.org/org/documents/edl-v10",
            "opensource.org/licenses/bsd-3-clause",
            "spdx.org/licenses/bsd-3-clause",
            "asm.ow2.io/license",
            "asm.ow2.org/license",
        ),
        "EPL-1.0": ("eclipse public license - v 1.0", "eclipse.org/legal/epl-v10"),
        "EPL-2.0": ("epl 2.0", "eclipse public license - v 2.0", "eclipse.org/legal/epl-2.0"),
        "GPL-2.0-only WITH Classpath-exception-2.0": (
            "gpl2 w/ cpe",
            "gpl-2.0-with-classpath-exception",
            "the gnu general public license (gpl), version 2, with classpath exception",
            "gnu.org/software/classpath/license",
        ),
        "CDDL-1.1 OR GPL-2.0-only WITH Classpath-exception-2.0": (
            "cddl + gplv2 with classpath exception",
            "oss.oracle.com/licenses/cddl+gpl-1.1",
        ),
        "LGPL-2.1-only": ("lgpl 2.1", "gnu.org/licenses/lgpl-2.1"),
        "MPL-1.1": ("mpl 1.1", "mozilla.org/en-us/mpl/1.1"),
        "MPL-2.0": ("mozilla public license 2.0 (mpl 2.0)",),
        "PSF-2.0": ("python software foundation license",),
        "CC0-1.0": ("public domain, per creative commons cc0", "creativecommons.org/publicdomain/zero/1.0"),
    }
)
_BY_NAME = MappingProxyType({name: spdx for spdx, names in _NAMES.items() for name in names})

_HEAD_CHARS = 3000
_BSD = r"redistribution and use in source and binary forms"
# For each licence, words at the beginning of its text that distinguish the licence from all others. The first match
# counts.
_TEXTS: Sequence[tuple[str, str]] = (
    ("Apache-2.0", r"apache license\s+version 2\.0"),
    ("Apache-1.1", r"apache software license,? version 1\.1"),
    ("CDDL-1.0", r"common development and distribution license \(cddl\) version 1\.0"),
    ("EPL-2.0", r"eclipse public license - v 2\.0"),
    ("MPL-2.0", r"mozilla public license,? version 2\.0"),
    ("BSD-3-Clause", rf"{_BSD}.*(neither the names? of|may not be used to endorse)"),
    ("BSD-2-Clause", rf"{_BSD}.*this software is provided by"),
    ("MIT", r"permission is hereby granted, free of charge.*the above copyright notice and this permission notice"),
)


@cache
def _licensing() -> Licensing:
    # Reading SPDX's list takes half a second, so it is read only when a licence is requested.
    return get_spdx_licensing()


def from_expression(text: str) -> str | None:
    """Return the expression in SPDX's own spelling. Return None if it is not an SPDX expression.

    >>> from_expression("mit or apache-2.0")
    'MIT OR Apache-2.0'
    >>> from_expression("BSD License")
    """
    try:
        parsed = _licensing().parse(text, validate=True, strict=True)
    except (ExpressionError, ValueError):
        return None
    return None if parsed is None else str(parsed.render())


def from_name(text: str) -> str | None:
    """Return the SPDX expression for a licence's name or web address. Return None if it is unknown or ambiguous.

    >>> from_name("https://www.apache.org/licenses/LICENSE-2.0.txt")
    'Apache-2.0'
    >>> from_name('"Apache-2.0";link="https://www.apache.org/licenses/LICENSE-2.0.txt"')
    'Apache-2.0'
    >>> from_name("BSD License")
    """
    name = re.sub(r"\s+", " ", text.partition(";")[0]).strip(" \"'").rstrip("/")
    plain = re.sub(r"^https?://(www\.)?|(\.(txt|html|php))$", "", name.lower())
    return _BY_NAME.get(plain) or (from_expression(name) if len(name) <= 200 else None)


def from_choice(names: Sequence[str]) -> str | None:
    """Return the SPDX expression for several names between which the user may choose, as Maven and OSGi define it.
    Return None if a name is unknown.

    >>> from_choice(["EPL 2.0", "GPL2 w/ CPE"])
    'EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0'
    """
    known = [from_name(name) for name in names]
    if not known or None in known:
        return None
    return from_expression(" OR ".join(f"({name})" for name in dict.fromkeys(known)))


def from_text(text: str) -> str | None:
    """Return the SPDX name of the licence with which a text begins. Return None if the licence is unknown."""
    head = re.sub(r"[\s*#>]+", " ", text.lower())[:_HEAD_CHARS]
    return next((spdx for spdx, pattern in _TEXTS if re.search(pattern, head, re.DOTALL)), None)


def alternatives(expression: str) -> list[frozenset[str]]:
    """Return the alternatives of an expression: for each, the set of licences that apply together.

    >>> sorted(sorted(way) for way in alternatives("MIT AND (Zlib OR Apache-2.0 WITH LLVM-exception)"))
    [['Apache-2.0 WITH LLVM-exception', 'MIT'], ['MIT', 'Zlib']]
    """
    licensing = _licensing()
    normal = licensing.dnf(licensing.parse(expression))
    options = normal.args if isinstance(normal, licensing.OR) else (normal,)
    return [
        frozenset(str(part) for part in (option.args if isinstance(option, licensing.AND) else (option,)))
        for option in options
    ]
