"""The scheduler on one machine, in one process and one folder (ADR 0185)."""
