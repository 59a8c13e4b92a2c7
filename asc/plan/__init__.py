"""Plans: the compiled queries, immutable, in flat arrays, and how they come about and change."""
