"""The running plan of a stream, which is replaced between batches, and the bindings of batches to plans."""
