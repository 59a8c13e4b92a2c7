"""The configuration: the TOML file, its sections, and the checks of both."""
