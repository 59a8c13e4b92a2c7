"""Plans: the compiled queries in immutable flat arrays, their compilation and their changes."""
