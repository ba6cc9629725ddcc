"""Queues, the topic, and the store of the dead letters."""
