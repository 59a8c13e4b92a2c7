"""A release: wheel and source archive, whole, and enough where nothing else of the project is."""
