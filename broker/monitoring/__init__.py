"""The monitor of a stream, which adapts the sequences of its plan's blocks to the data."""
