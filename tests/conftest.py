"""The same examples on every run and every machine: a red test can be repeated, a green one stays green."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "delayer",
    derandomize=True,
    deadline=None,
    max_examples=80,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the machine's speed decides nothing
)
settings.load_profile("delayer")
