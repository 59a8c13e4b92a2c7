"""Record formats: from the bytes of a record to columns, in the JVM."""
