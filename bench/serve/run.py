"""Measures what `delayer serve` can do on this machine, in its own process and over HTTP: in about eight minutes.

What other schedulers can do as well is measured beside them (`--peer delayer-serve`).
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.command.options import Options
from bench.load import calls, due_times, series
from bench.load.arrivals import Arrival
from bench.load.calls import Call, NewSchedule
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.load.throughput import Throughput
from bench.measure.lateness import summarise
from bench.peers import environment
from bench.report.figures import Report
from bench.serve import targets
from bench.serve.backlog import back_up
from bench.serve.clients import call_all, call_for
from bench.serve.engine import Engine
from bench.serve.fill import NEVER, folder_with
from local.command.progress import console, step
from local.receiver import Receiver

FOLDER = environment.FOLDER.parent / "serve"
SECONDS = 5  # of each kind of POST
READ_SECONDS = 2
PAGE = 50
CLIENTS = 8
POSTED_PER_SECOND = 300  # series, and schedules one by one; on a slow machine
LEAD = 3 * SECOND
FILLED_SECONDS = 3  # until all are POSTed
BACKED_UP_SECONDS = 15  # for which they are due
MINUTES = 2  # for which series are held
A_YEAR = 365 * 24 * 3600 * SECOND
LONGEST_WAIT_SECONDS = 60  # after the last point in time
POLL_SECONDS = 0.5
REST_SECONDS = 2


def measure(options: Options, report: Report) -> None:
    """Add the rows of lateness, and the verdicts on everything."""
    shutil.rmtree(FOLDER / "new", ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    measure_posts(report)
    measure_waiting(options, report)
    measure_backed_up(options, report)
    for count in options.serve_series:
        measure_series(count, report)


@contextmanager
def started(data: Path) -> Iterator[tuple[Engine, float]]:
    """An engine, and the seconds until it answered."""
    engine = Engine(data, FOLDER / "engine.log")
    seconds = engine.start()
    try:
        yield engine, seconds
    finally:
        engine.stop()


@contextmanager
def on_new_folder() -> Iterator[tuple[Engine, float]]:
    """An engine with nothing in it; its folder is deleted."""
    try:
        with started(FOLDER / "new") as both:
            yield both
    finally:
        shutil.rmtree(FOLDER / "new", ignore_errors=True)


def measure_posts(report: Report) -> None:
    """On an empty folder: the start, and POSTs of what is due in a year."""
    new = NewSchedule(due=now() + A_YEAR, target=NEVER)
    with on_new_folder() as (engine, ready):
        time.sleep(REST_SECONDS)
        report.machine += targets.of_start(ready, engine.memory_mb())
        for clients in targets.POSTS:
            with step(f"POSTing for {SECONDS} s with {clients} clients"):
                posts = measured(engine, calls.post(new), 1, clients)
            report.machine.append(targets.of_posts(posts))
        for size in targets.IN_BATCHES:
            with step(f"POSTing batches of {size} for {SECONDS} s with {CLIENTS} clients"):
                batch = calls.post_batch([new] * size)
                batches = measured(engine, batch, size, CLIENTS)
            report.machine.append(targets.of_batches(batches, size))


def measure_waiting(options: Options, report: Report) -> None:
    """With very many waiting, and their histories: the start, pages and statuses."""
    count = options.waiting
    data = folder_with(count, FOLDER)
    with started(data) as (engine, ready):
        with step(f"Reading, with {count:,} stored"):
            call = calls.Call(method="GET", path=f"/schedules?limit={PAGE}", expected=200)
            [body] = call_all(engine.port, [call], 1)
            found = json.loads(body)["schedules"]
            page = call_for(engine.port, call, 1, READ_SECONDS)
            status = call_for(engine.port, calls.get(found[-1]["scheduleId"]), 1, READ_SECONDS)
        report.machine += targets.of_waiting(count, ready, engine.memory_mb())
        report.machine += targets.of_reads(count, page, status)


def measure_backed_up(options: Options, report: Report) -> None:
    """So many a second, for a target that is well, while very many are due for one that is suspended."""
    back_up(FOLDER / "new", FOLDER / "engine.log", options.waiting)
    with on_new_folder() as (engine, _), Receiver() as receiver:
        times = due_times.evenly(now() + LEAD + FILLED_SECONDS * SECOND, options.rate, BACKED_UP_SECONDS)
        posts = [calls.post(NewSchedule(due=due, target=f"{receiver.url}/well")) for due in times]
        with step(f"Firing {options.rate}/s while {options.waiting:,} are backed up"):
            answers = [json.loads(body) for body in call_all(engine.port, posts, CLIENTS)]
            due = {one["scheduleId"]: at for one, at in zip(answers, times, strict=True)}
            if now() > times[0]:
                console.print("  They were POSTed too late.")
            used, began = engine.processor_seconds(), time.monotonic()
            wait_for(receiver, len(due), max(times))
            used, lasted = engine.processor_seconds() - used, time.monotonic() - began
        arrived = [Arrival(schedule_id=one.headers["idempotency-key"], at_ms=one.at_ms) for one in receiver.of("/well")]
        row = summarise(f"{options.rate}/s while {options.waiting:,} are backed up", due, arrived)
        report.lateness.append(row)
        report.machine.append(targets.of_lateness(row, targets.BACKED_UP_P99_MS))
        console.print(f"    {used / lasted:.0%} of a processor meanwhile")


def measure_series(count: int, report: Report) -> None:
    """So many series of one minute, spread over the minute, each for some minutes."""
    with on_new_folder() as (engine, _), Receiver() as receiver:
        began = now() + round(count / POSTED_PER_SECOND * SECOND) + LEAD
        all_series = series.spread(count, began, MINUTES, f"{receiver.url}/series")
        with step(f"POSTing {count:,} series"):
            call_all(engine.port, [series.post(one) for one in all_series], CLIENTS)
        if now() > began:
            console.print(f"  The last of them was POSTed {(now() - began) / SECOND:.1f} s after the first was due.")
        due = series.due_of(all_series)
        with step(f"Holding {count:,} series of one minute for {MINUTES} minutes"):
            used = engine.processor_seconds()
            wait_for(receiver, len(due), max(due.values()))
            used = engine.processor_seconds() - used
        arrived = series.arrivals_of(receiver.of("/series"))
        row = summarise(f"{count:,} series of one minute", due, arrived)
        report.lateness.append(row)
        report.machine.append(targets.of_lateness(row, targets.SERIES_P99_MS))
        say_cost(used, len(due), "occurrence")


def wait_for(receiver: Receiver, count: int, last: int) -> None:
    """Until all have come, or too long after the last was due."""
    while len(receiver.requests) < count and now() < last + LONGEST_WAIT_SECONDS * SECOND:
        time.sleep(POLL_SECONDS)


def measured(engine: Engine, call: Call, size: int, clients: int) -> Throughput:
    """The same call for some seconds. Says how much processor time the engine took for each schedule."""
    used = engine.processor_seconds()
    made = call_for(engine.port, call, clients, SECONDS)
    say_cost(engine.processor_seconds() - used, made.calls * size, "schedule")
    return made


def say_cost(seconds: float, count: int, each: str) -> None:
    """Of the engine's process: not of clients and target, which take their own."""
    console.print(f"    {seconds * 1000 / count:.2f} ms of processor time for each {each}")
