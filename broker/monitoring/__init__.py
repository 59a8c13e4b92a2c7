"""The thread beside a stream that keeps the order of evaluation to the data."""
