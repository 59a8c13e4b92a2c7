"""Files of rows and of queries: their formats, their rows as records or attributes, and schemas guessed from them."""
