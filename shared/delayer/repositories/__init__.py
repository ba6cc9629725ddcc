"""The rows of each port, written once on the store; which engine it is, they do not know (ADR 0170)."""
