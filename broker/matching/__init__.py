"""``broker.match``: what crosses into Spark's Python workers, what runs there, and what comes back."""
