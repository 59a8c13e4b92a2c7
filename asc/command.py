"""The start of the command ``asc``: refuse packages of other projects, then run the command line.

It lies in the package that bears the command's name. ``cli`` is the likeliest name for another project to have too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def run() -> None:
    """Run the command line; exit with 1 and one line where Python finds another project's package for one of ours."""
    packages = _packages()
    try:
        packages.check_packages(packages.PACKAGES)
    except packages.ForeignPackageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    import_module("cli.entry").run()


def _packages() -> ModuleType:
    """Import ``broker.packages`` from its file: what Python finds by the name ``broker`` is not checked yet."""
    spec = spec_from_file_location("_asc_packages", Path(__file__).parents[1] / "broker" / "packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
