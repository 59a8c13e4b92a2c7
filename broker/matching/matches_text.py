"""How what accepts a row leaves Python: as one text, for a Pandas UDF makes Python objects of an array's rows.

``id`` BETWEEN_IDS ``id`` ..., and with topics ``topic`` AFTER_TOPIC ids, BETWEEN_TOPICS the next one. Neither an id nor
a topic may hold one of these characters; none of them means anything in a regular expression.
"""

BETWEEN_IDS = "\x1f"
AFTER_TOPIC = "\x1e"
BETWEEN_TOPICS = "\x1d"
