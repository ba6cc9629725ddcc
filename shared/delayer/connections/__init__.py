"""Connections: the secrets of owners that their actions name, and never hold (ADR 0105, 0106)."""
