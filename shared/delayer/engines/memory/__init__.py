"""Queues, topics, clocks and logs in memory, under a clock that is moved by hand, held to the same contract tests."""
