"""The calls on signing secrets."""
