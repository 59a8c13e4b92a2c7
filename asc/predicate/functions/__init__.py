"""The functions a predicate may call.

Every one is a pure scalar built-in of Spark that, with ANSI mode off, throws for no input, or is written so that what
throws is NULL; that takes time linear in a record's length; and whose result is no more than a bounded number of times
as long as what it is made of: one record must not stop the stream. A module a family, beside what they share.
"""

from __future__ import annotations

from asc.predicate.functions.function import CASTING_SORTS, Call, Function
from asc.predicate.functions.table import FAMILIES, FUNCTIONS

__all__ = ["CASTING_SORTS", "FAMILIES", "FUNCTIONS", "Call", "Function"]
