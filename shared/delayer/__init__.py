"""Delayer: runs an action at a point in time, not before it, and once."""
