"""The console: pages for people, made by the daemon from the content of the API."""
