"""Dead letters: many at once, and to whom they belong."""
