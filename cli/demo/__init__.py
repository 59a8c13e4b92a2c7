"""``asc demo``: the whole path on recorded samples, compared with other engines."""
