"""Connections: their rows in the registry, their values in Secrets Manager, their tokens."""
