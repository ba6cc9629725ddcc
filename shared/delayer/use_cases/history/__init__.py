"""Lifecycle events: published, and written into the journal."""
