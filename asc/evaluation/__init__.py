"""Evaluation of tuples by a plan: one tuple at a time exactly as in the paper, or in batches."""
