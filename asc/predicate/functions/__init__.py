"""The functions a predicate may call.

Every one is a pure scalar built-in of Spark for which three things hold, so that one record cannot stop the stream:

* With ANSI mode off it throws for no input, or is spelled so that it is NULL where it would throw.
* It takes time linear in a record's length.
* Its result is at most a bounded number of times as long as its arguments.

Each family has a module, beside the modules that families share.
"""

from __future__ import annotations

from asc.predicate.functions.function import CASTING_SORTS, Call, Function
from asc.predicate.functions.table import FAMILIES, FUNCTIONS

__all__ = ["CASTING_SORTS", "FAMILIES", "FUNCTIONS", "Call", "Function"]
