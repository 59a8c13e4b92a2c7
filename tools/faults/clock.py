"""The clock of one running Python process, set back. The system clock, which all processes share, is unchanged."""

from __future__ import annotations

import datetime
import sys
import threading
import time

SAID = "the clock was set back"

_NOW_S = time.time
_Datetime = datetime.datetime


class _AsDatetime(type(_Datetime)):  # type: ignore[misc]
    """A metaclass that makes every datetime an instance of its classes, because C code creates plain ones."""

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
    """Set ``time.time``, and ``datetime.now`` of the broker's modules, back by so much in so long; stderr says so.

    It changes the modules that are imported by then, and none but the broker's. Compiled packages look at how a class
    is made, and pandas does not end its import with another datetime.
    """

    def move() -> None:
        _Moved.by_s = by_s
        for name, module in list(sys.modules.items()):
            if name.startswith("broker.") and vars(module).get("datetime") is _Datetime:
                module.datetime = _Moved  # type: ignore[attr-defined]
        # First, and in one piece: who sees the other clock may end the process at once.
        sys.stderr.write(f"{SAID}\n")
        time.time = lambda: _NOW_S() - by_s

    timer = threading.Timer(after_s, move)
    timer.daemon = True
    timer.start()
