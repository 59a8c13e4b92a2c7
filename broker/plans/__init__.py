"""The plan that a stream runs: replaced between batches, and bound to each batch."""
