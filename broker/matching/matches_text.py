"""How what accepts a row leaves Python: as one text, for a Pandas UDF makes Python objects of an array's rows.

``id`` BETWEEN_IDS ``id`` ..., and with topics ``topic`` AFTER_TOPIC ids, BETWEEN_TOPICS the next one. Where shapes of
joins accept the row, they come before the ids: ``query/shape`` BETWEEN_IDS ... AFTER_SHAPES. For operators a target
AFTER_TARGET is in place of the topic, and selections in place of ids. Neither an id nor a topic may hold one of these
characters; none of them means anything in a regular expression.
"""

BETWEEN_IDS = "\x1f"
AFTER_TOPIC = "\x1e"
BETWEEN_TOPICS = "\x1d"
AFTER_SHAPES = "\x1c"
AFTER_TARGET = "\x1b"
"""Ends the name of an operator's target, which is in place of a topic."""
