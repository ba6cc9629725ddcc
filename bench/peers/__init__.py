"""Delayer beside other schedulers: the same schedules, the same target, the same machine."""
