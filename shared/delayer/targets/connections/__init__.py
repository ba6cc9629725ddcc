"""How an attempt gets its credentials."""
