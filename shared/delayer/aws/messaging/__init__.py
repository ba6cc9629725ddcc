"""Queues, the topic, and the bucket of the dead letters."""
