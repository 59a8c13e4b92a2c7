"""Record formats, one module each: they decode the bytes of a record to columns, and encode rows to such bytes."""
