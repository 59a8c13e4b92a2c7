"""Tables of measured figures in the documentation, made from the JSON files of the benchmarks."""
