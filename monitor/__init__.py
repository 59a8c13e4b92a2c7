"""The side monitor's layer: statistics of samples and the sequences found from them (planned; nothing is here yet)."""
