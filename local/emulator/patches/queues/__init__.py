"""Corrections to ministack's SQS, and to its event source mappings of queues."""
