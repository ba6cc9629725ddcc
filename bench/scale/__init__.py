"""How fast the deployed stack is, and what it costs, by calculation (ADR 0121)."""
