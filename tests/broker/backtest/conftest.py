"""The command line over files, as the tests of commands have it."""

from __future__ import annotations

from tests.cli.conftest import files, no_variables_of_asc, run, settings_of_spark  # noqa: F401 - fixtures
