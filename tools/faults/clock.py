"""A function that sets back the clock of one running Python process. The system clock, which all processes share, is
unchanged.
"""

from __future__ import annotations

import datetime
import sys
import threading
import time

SAID = "the clock was set back"

_NOW_S = time.time
_Datetime = datetime.datetime


class _AsDatetime(type(_Datetime)):  # type: ignore[misc]
    """A metaclass whose classes accept every datetime as their instance, because C code creates plain datetimes."""

    def __instancecheck__(cls, found: object) -> bool:
        return isinstance(found, _Datetime)

    def __subclasscheck__(cls, found: type) -> bool:
        return issubclass(found, _Datetime)


class _Moved(_Datetime, metaclass=_AsDatetime):
    by_s = 0.0

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Datetime:  # type: ignore[override]
        return _Datetime.fromtimestamp(_NOW_S() - _Moved.by_s, tz)


def set_back(after_s: float, by_s: float) -> None:
    """Start a timer that sets back the clock by ``by_s`` seconds when ``after_s`` seconds have passed, and prints this
    on stderr. It changes ``time.time``, and ``datetime.now`` in the broker's modules.

    Only modules of the broker that are imported by then are changed. Compiled packages depend on how a class is
    created, and the import of pandas fails with another datetime.
    """

    def move() -> None:
        _Moved.by_s = by_s
        for name, module in list(sys.modules.items()):
            if name.startswith("broker.") and vars(module).get("datetime") is _Datetime:
                module.datetime = _Moved  # type: ignore[attr-defined]
        # Print before the change, with a single write: a process that observes the changed clock may end this process
        # at once.
        sys.stderr.write(f"{SAID}\n")
        time.time = lambda: _NOW_S() - by_s

    timer = threading.Timer(after_s, move)
    timer.daemon = True
    timer.start()
