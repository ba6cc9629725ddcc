"""What makes series go on: the events of their occurrences, and what looks after them without an event."""
