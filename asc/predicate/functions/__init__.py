"""The functions that a predicate may call.

Each function is a pure scalar built-in of Spark with three properties, so that a single record cannot stop the stream:

* With ANSI mode off it throws for no input. Otherwise its call is rewritten so that the result is NULL instead.
* It takes time linear in the length of a record.
* The length of its result is at most a bounded multiple of the length of its arguments.

Each family of functions has a module. The other modules contain code that several families share.
"""

from __future__ import annotations

from asc.predicate.functions.function import CASTING_SORTS, Call, Function
from asc.predicate.functions.table import FAMILIES, FUNCTIONS

__all__ = ["CASTING_SORTS", "FAMILIES", "FUNCTIONS", "Call", "Function"]
