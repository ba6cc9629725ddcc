"""The same examples on every run and every machine: a red test can be repeated, a green one stays green.

Each run ends with its slowest tests.
"""

from hypothesis import HealthCheck, settings

from tests.running.slow import pytest_runtest_setup, pytest_terminal_summary

__all__ = ["pytest_runtest_setup", "pytest_terminal_summary"]

settings.register_profile(
    "delayer",
    derandomize=True,
    deadline=None,
    max_examples=80,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the machine's speed decides nothing
)
settings.load_profile("delayer")
