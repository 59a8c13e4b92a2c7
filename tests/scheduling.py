"""Distribution of tests over the processes of a run: whole files, and the folder of the command line as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

ONE_PROCESS = ("tests/cli/",)
"""Folders whose tests share a daemon: it starts once a run, and not once in each process."""


def scope_of(nodeid: str) -> str:
    """Return the name of the tests that run in one process with a test: those of its file, or of its folder.

    >>> scope_of("tests/asc/keys/test_order.py::test_it"), scope_of("tests/cli/query/test_apply.py::test_it")
    ('tests/asc/keys/test_order.py', 'tests/cli/')
    """
    file = nodeid.split("::", 1)[0]
    return next((folder for folder in ONE_PROCESS if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Return the scheduler of ``--dist loadfile`` with these scopes."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class FolderScheduling(LoadFileScheduling):
        """Scheduler of whole files, and of some folders as a whole."""

        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return FolderScheduling(config, log)
