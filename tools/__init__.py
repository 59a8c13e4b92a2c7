"""Programs for developers of the broker. They are not part of the installed package."""
