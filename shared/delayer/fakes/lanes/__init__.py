"""The tables of schedules that are not in the schedules table."""
