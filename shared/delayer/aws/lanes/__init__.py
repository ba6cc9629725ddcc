"""The tables of schedules that are not in the schedules table: what waits for its time."""
