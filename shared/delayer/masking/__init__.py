"""Masking shows nothing of secrets. Pure."""
