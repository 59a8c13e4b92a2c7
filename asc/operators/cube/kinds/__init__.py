"""The kinds of measures: one module for each kind, with its declaration, its parameters and its questions."""
