"""Parts of HTML pages that show answers of the API, as HTML and SVG text, for files and for the console."""
