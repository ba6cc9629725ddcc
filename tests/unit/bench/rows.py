"""Rows of the calls of the API: a good one, and what can be wrong with one."""

from attrs import evolve

from bench.load.throughput import Throughput
from bench.measure.api import ApiCall
from bench.measure.requests import PerCall

ROW = ApiCall(
    name="GET /schedules/{id}",
    measured=Throughput(clients=8, calls=3, failed=0, per_second=1.0, p50_ms=20.0),
    warm_up_failures={},
    units=PerCall(writes=0, reads=2, sqs={}, invocations={"api-schedule-get": 1}),
)
FAILED = evolve(ROW, measured=evolve(ROW.measured, failed=2, failures={"503: busy": 2}))
FAILED_WARMING_UP = evolve(ROW, warm_up_failures={"503: busy": 1})
WITHOUT_CALLS = evolve(ROW, measured=evolve(ROW.measured, calls=0, p50_ms=None))
