"""The console: HTML pages for users, which the daemon renders from the same descriptions as the answers of the API."""
