"""Normal forms: a typed tree to a formula, and to a disjunction of conjuncts of constraints."""
