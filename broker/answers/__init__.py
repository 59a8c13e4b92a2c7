"""What the HTTP API answers, as typed dictionaries: the client returns them, and the API describes itself by them."""
