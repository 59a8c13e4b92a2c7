"""Pieces of pages, made of what the API answers: HTML and SVG as texts, for files and for the console."""
