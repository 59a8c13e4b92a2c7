"""Keys: the int64 or byte strings that represent the values of each type in the order of Spark, and sets of keys."""
