"""Questions to cubes about places: which cells are inside a scope, and which ones only touch it."""
