"""The console: pages for people, made by the daemon from what the API shows."""
