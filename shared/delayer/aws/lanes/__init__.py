"""The tables of schedules as one, and what waits for its time."""
