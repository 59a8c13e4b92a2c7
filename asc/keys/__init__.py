"""Keys: the totally ordered int64 or byte strings that represent the values of each type, and sets of keys."""
