"""The pure core: models, and decisions returned as data. No I/O, no clock, no randomness of its own."""
