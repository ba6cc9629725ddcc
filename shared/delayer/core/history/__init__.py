"""Lifecycle events, and the state that they add up to."""
