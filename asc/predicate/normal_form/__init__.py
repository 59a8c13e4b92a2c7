"""Normal forms: a typed syntax tree becomes a formula, and the formula a disjunction of conjuncts of constraints."""
