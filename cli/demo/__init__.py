"""``asc demo``: recorded samples through the whole system, compared with other engines."""
