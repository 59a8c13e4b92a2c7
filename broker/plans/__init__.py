"""The plan that a stream runs: swapped between batches, bound to them, shipped to the workers."""
