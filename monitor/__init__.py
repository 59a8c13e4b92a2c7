"""The side monitor's pure part: statistics of samples, the sequences found from them, and when to look for others."""
