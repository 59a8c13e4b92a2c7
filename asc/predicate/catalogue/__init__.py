"""The catalogue of functions: all of Spark's and those of shapes, as they are listed, allowed or refused."""
