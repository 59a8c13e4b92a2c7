"""The table of functions that a predicate may call."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from asc.predicate.functions.binaries import BINARIES
from asc.predicate.functions.collections import COLLECTIONS
from asc.predicate.functions.conditionals import CONDITIONALS
from asc.predicate.functions.csv_records import CSV_RECORDS
from asc.predicate.functions.documents import DOCUMENTS
from asc.predicate.functions.encryption import ENCRYPTION
from asc.predicate.functions.function import Function
from asc.predicate.functions.instants import INSTANTS
from asc.predicate.functions.intervals import INTERVALS
from asc.predicate.functions.number_formats import NUMBER_FORMATS
from asc.predicate.functions.numbers import NUMBERS
from asc.predicate.functions.regular_expressions import REGULAR_EXPRESSIONS
from asc.predicate.functions.strings import STRINGS
from asc.predicate.functions.variants import VARIANTS
from asc.predicate.functions.xml_documents import XML_DOCUMENTS

FAMILIES: Mapping[str, Mapping[str, Function]] = MappingProxyType(
    {
        "numbers": NUMBERS,
        "conditions and NULL": CONDITIONALS,
        "strings": STRINGS,
        "regular expressions": REGULAR_EXPRESSIONS,
        "binary": BINARIES,
        "encryption": ENCRYPTION,
        "formats of numbers, instants, binary": NUMBER_FORMATS,
        "dates and timestamps": INSTANTS,
        "intervals": INTERVALS,
        "arrays, maps, structs": COLLECTIONS,
        "JSON and URLs": DOCUMENTS,
        "VARIANT": VARIANTS,
        "CSV": CSV_RECORDS,
        "XML": XML_DOCUMENTS,
    }
)
"""The allowed functions by family."""

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {name: function for family in FAMILIES.values() for name, function in family.items()}
)
"""The allowed functions by lower-case name."""
