"""The answers of the HTTP API, as typed dictionaries: the client returns them, and the API describes itself by them."""
