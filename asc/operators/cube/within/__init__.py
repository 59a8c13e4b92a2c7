"""Questions to cubes about a part of the world: the cells that are inside a scope, and the cells that only touch it."""
