"""Action types: what their classes say, and whose they are."""
