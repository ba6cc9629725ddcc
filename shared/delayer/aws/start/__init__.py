"""What a cold start costs: the collector of garbage, and the session of botocore (ADR 0117)."""
