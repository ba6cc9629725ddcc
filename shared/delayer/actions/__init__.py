"""Action types: what their classes say, whose they are, and what an attempt comes to."""
