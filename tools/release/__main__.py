"""``python -m tools.release``: build wheel and source archive, and test the wheel in isolation from the project.

Exit codes: 0 if both may be released, 1 if a fault forbids it, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.release.archives import build, faults, sums
from tools.release.empty_environment import check_installed
from tools.release.errors import ReleaseError
from tools.release.version import check_committed, check_tagged, version_faults, version_of

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check the archives, print the faults, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description="Build wheel and sdist, and try the wheel."
    )
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder of the archives (default: dist)")
    parser.add_argument("--unreleased", action="store_true", help="also where version, changelog or tree are not ready")
    parser.add_argument("--archives-alone", action="store_true", help="do not install the wheel (600 MB of packages)")
    options = parser.parse_args(arguments)
    version, errors = version_of(ROOT), []
    try:
        if not options.unreleased:
            errors = list(version_faults(version, (ROOT / "CHANGELOG.md").read_text("utf-8")))
            check_committed(ROOT)
            check_tagged(ROOT, version)
        if not errors:
            errors = _built(options.out.resolve(), version, installs=not options.archives_alone)
    except ReleaseError as error:
        errors = [*errors, error]
    for fault in errors:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if errors else 0


def _built(out: Path, version: str, *, installs: bool) -> list[ReleaseError]:
    archives = build(ROOT, out)
    found = list(faults(ROOT, archives))
    if found:
        return found
    if installs:
        with TemporaryDirectory(prefix="asc-release-") as folder:
            check_installed(archives.wheel, ROOT / "requirements.lock", Path(folder), version)
    files = (archives.wheel, archives.source)
    (out / "SHA256SUMS").write_text(sums(files), encoding="utf-8")
    for file in files:
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    print(f"asc-broker {version}: in {out}" + ("" if installs else ", not installed"))
    return []


if __name__ == "__main__":
    sys.exit(main())
