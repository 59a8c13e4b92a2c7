"""The commands of operator kinds, such as ``asc near``, and their options."""
