"""Measures what one machine can do, in about seven minutes: in an order in which nothing is left over for the next."""

import time
from functools import partial

from bench.command.options import Options
from bench.load import calls, due_times, scripts
from bench.load.calls import NewSchedule
from bench.load.clients import Script
from bench.load.due_times import SECOND
from bench.load.generator import DueTimes, LoadGenerator, now
from bench.machine import memory, targets
from bench.machine.ready import Ready
from bench.measure.lateness import Lateness, summarise
from bench.report.figures import Report
from local.command.progress import step
from local.errors import EmulatorError

RATE = 200  # a second, POSTed ahead
FAST_SECONDS = 20
SPREAD_AT = 30 * SECOND  # of the minute: ten seconds after the last of them
AT_ONCE_AT = 42 * SECOND
SPREAD = 500
AT_ONCE = 3000
BATCH = 100  # schedules
LIVE_SECONDS = 20
AFTER_SECONDS = 60  # between the burst and the look at the memory
A_YEAR = 365 * 24 * 3600 * SECOND


def measure(load: LoadGenerator, options: Options, report: Report, ready: Ready) -> None:
    """Add the rows of lateness, and the verdicts on everything."""
    rows = [measure_beside(load, options), *measure_swept(load)]
    report.lateness += rows
    report.machine += [targets.of_ready(ready), *targets.of_runs(*rows)]
    with step(f"Waiting {AFTER_SECONDS} s, as idle processes end after a while"):
        time.sleep(AFTER_SECONDS)
    process = load.stack.process.process
    after = memory.of_session(process.pid) if process else None
    if after and ready.command_mb is not None:
        report.machine += targets.of_memory(after, ready.command_mb)
    measure_posts(load, options, report)


def measure_beside(load: LoadGenerator, options: Options) -> Lateness:
    """POSTs beside what fires."""
    due = load.run_live("/beside", options.rate, LIVE_SECONDS)
    return summarise(f"{options.rate}/s with POSTs beside it", due, load.arrivals("/beside"))


def measure_swept(load: LoadGenerator) -> list[Lateness]:
    """Three runs in one minute, one after the other."""
    runs: dict[str, DueTimes] = {
        f"{RATE}/s, POSTed ahead": partial(due_times.evenly, rate=RATE, seconds=FAST_SECONDS),
        f"{SPREAD} in one second": lambda start: due_times.within_a_second(start + SPREAD_AT, SPREAD),
        f"{AT_ONCE:,} at one instant": lambda start: due_times.at_once(start + AT_ONCE_AT, AT_ONCE),
    }
    paths = {name: f"/swept-{number}" for number, name in enumerate(runs)}
    due = load.run_swept({paths[name]: times for name, times in runs.items()})
    return [summarise(name, due[path], load.arrivals(path)) for name, path in paths.items()]


def measure_posts(load: LoadGenerator, options: Options, report: Report) -> None:
    """POST what is due in a year, one by one and in batches."""
    new = NewSchedule(due=now() + A_YEAR, target=load.receiver.url)
    with step(f"POSTing for {options.post_seconds} s with {options.clients} clients"):
        one_by_one = load.clients.call_for(
            options.post_seconds, lambda: scripts.post(scripts.CreatedSchedules(new=new))
        )
    with step(f"POSTing batches of {BATCH} for {options.post_seconds} s with {options.clients} clients"):
        in_batches = load.clients.call_for(options.post_seconds, lambda: post_batches(new))
    report.throughput = one_by_one
    report.machine += targets.of_posts(one_by_one, in_batches, BATCH)


def post_batches(new: NewSchedule) -> Script:
    """The same batch again and again: without keys, each is new. EmulatorError if one of a batch was refused."""
    call = calls.post_batch([new] * BATCH)
    while True:
        response = yield call
        accepted = response.body.count(b'"status":201')
        if response.status == call.expected and accepted != BATCH:
            raise EmulatorError(f"Of a batch of {BATCH}, {BATCH - accepted} were refused.")
