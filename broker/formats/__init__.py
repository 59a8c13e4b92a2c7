"""Record formats, one module each: from the bytes of a record to columns, in the JVM, and from rows to such bytes."""
