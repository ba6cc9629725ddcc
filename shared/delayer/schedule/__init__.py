"""A schedule: its time, its address, its id, its definition, and the messages that carry it. Pure."""
