"""``broker.match``: the data that goes to Spark's Python workers, the code that runs there, and the results."""
