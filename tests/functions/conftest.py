"""Nobody sleeps here under a clock that is moved by hand."""

from tests.running.waiting import pytest_runtest_call, pytest_runtest_protocol

__all__ = ["pytest_runtest_call", "pytest_runtest_protocol"]
