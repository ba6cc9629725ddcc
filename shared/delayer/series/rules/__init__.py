"""Decides: data in, data out. No clock, no chance, nothing from outside."""
