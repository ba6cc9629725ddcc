"""Reads from the API for a page, and draws conclusions."""
