"""Parts of HTML pages, built from answers of the API: HTML and SVG as text, for files and for the console."""
