"""The entry point of the command ``asc``: refuses packages of other projects, then runs the command line.

It is in the package that has the command's name, because another project is most likely to have a package ``cli``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def run() -> None:
    """Run the command line. Exit with 1 and a one-line message if Python finds another project's package instead of a
    package of asc-broker with the same name.
    """
    packages = _packages()
    try:
        packages.check_packages(packages.PACKAGES)
    except packages.ForeignPackageError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    import_module("cli.entry").run()


def _packages() -> ModuleType:
    """Import ``broker.packages`` from its file, because the package that Python finds as ``broker`` is not
    yet checked.
    """
    spec = spec_from_file_location("_asc_packages", Path(__file__).parents[1] / "broker" / "packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
