"""Evaluation: tuples through a plan, one at a time to the letter of the paper, or in batches."""
