"""Calls of the API: what is wrong with one, what its body and its fields may be, and how it is answered."""
