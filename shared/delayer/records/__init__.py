"""The records of schedules, each in the table of its lane, and the control rows of those who write and sweep them."""
