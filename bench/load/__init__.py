"""The load: calls, the clients that make them, and when schedules are due."""
