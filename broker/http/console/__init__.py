"""The console: HTML pages for users, which the daemon renders from the content of the API."""
