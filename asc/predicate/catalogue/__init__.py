"""The catalogue of functions: Spark's built-in functions and the functions of shapes, each allowed or refused."""
