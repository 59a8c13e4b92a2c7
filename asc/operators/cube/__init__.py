"""Standing cubes: exact roll-ups of accepted records by dimensions and panes of event time."""
