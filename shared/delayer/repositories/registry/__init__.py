"""The registry: names, groups, idempotency keys, jobs, rate limits, and who names a connection."""
