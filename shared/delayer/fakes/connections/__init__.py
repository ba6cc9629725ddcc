"""Connections in memory."""
