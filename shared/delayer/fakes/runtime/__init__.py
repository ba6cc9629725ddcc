"""Time, order, logs, a target, and faults."""
