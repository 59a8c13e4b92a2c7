"""The configuration: one TOML file, its sections, and the checks of both."""
