"""Connections and their tokens, without their secrets."""
