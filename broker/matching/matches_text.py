"""How what accepts a row leaves Python: as one text, for a Pandas UDF makes Python objects of an array's rows.

``id`` BETWEEN_IDS ``id`` ..., and with topics ``topic`` AFTER_TOPIC ids, BETWEEN_TOPICS the next one; what stands in
place of a topic is at BEFORE_OPERATOR. Where shapes of joins accept the row, they stand before the ids: ``query/shape``
BETWEEN_IDS ... AFTER_SHAPES. Neither an id nor a topic may hold one of these characters; none of them means anything in
a regular expression.
"""

BETWEEN_IDS = "\x1f"
AFTER_TOPIC = "\x1e"
BETWEEN_TOPICS = "\x1d"
AFTER_SHAPES = "\x1c"
BEFORE_OPERATOR = "\x1b"
"""In a destination that is no topic: what stands before it, and it, is what its ids are delivered under, together with
those of other destinations that begin alike; what follows is for the operator alone, and does not travel.
"""
