"""Keys: how the values of each type become totally ordered int64 keys or byte strings, and sets of them."""
