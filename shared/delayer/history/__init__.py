"""Lifecycle events, the journal of them, and the lists of schedules."""
