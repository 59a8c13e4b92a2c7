"""The configuration: one TOML file, its sections and what is checked of it."""
