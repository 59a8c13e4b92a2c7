"""Near queries: pairs of objects within a distance of each other, at ticks of event time."""
