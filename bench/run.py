"""The parts of a run: each measures something, and adds its rows to the report."""

from functools import partial

from bench.command.options import MACHINE, SERVE, Options
from bench.command.progress import progress_bar
from bench.load import due_times, scripts, series
from bench.load.bad_target import BadTarget
from bench.load.calls import NewSchedule
from bench.load.clients import Clients
from bench.load.due_times import SECOND
from bench.load.generator import LoadGenerator, now
from bench.machine import run as machine
from bench.machine.ready import Ready
from bench.machine.ready import measure as measured_ready
from bench.measure import api, imports, requests
from bench.measure.lateness import Lateness, summarise
from bench.report import targets
from bench.report.figures import Report
from bench.serve import run as serve
from local.command.progress import step
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack

WELL = "is well"
BURST_AFTER = 5 * SECOND  # after the start of the minute, so that its sweep has ended long before
BURST_DISTANCE = 20 * SECOND
LIVE_SECONDS = 20
A_YEAR = 365 * 24 * 3600 * SECOND


def measure(options: Options) -> Report:
    """Measure all parts that the options name."""
    report = Report()
    if "imports" in options.parts:
        measure_imports(options, report)
    if SERVE in options.parts:
        serve.measure(options, report)
    ready = measure_ready(options)
    if set(options.parts) - {"imports", SERVE}:
        measure_stack(options, report, ready)
    report.verdicts = verdicts_of(report, options)
    return report


def measure_ready(options: Options) -> Ready | None:
    """Start another stack and end it, before the one that is measured runs."""
    if MACHINE not in options.parts:
        return None
    with step("Starting python -m local, until it serves"):
        return measured_ready()


def measure_stack(options: Options, report: Report, ready: Ready | None) -> None:
    """Measure the parts that need a stack; all use the same one."""
    with (
        Receiver() as receiver,
        EmulatedStack(
            0, options.parameters, metering=set(options.parts) != {MACHINE}, progress=step, tls=options.tls
        ) as stack,
    ):
        load = LoadGenerator(
            stack=stack,
            receiver=receiver,
            clients=Clients(stack.port, options.clients),
            period_ms=int(options.parameters["DelayerPeriod"]) * SECOND,
        )
        load.warm_up()
        if ready:
            machine.measure(load, options, report, ready)
        for part, measured in (
            ("throughput", measure_throughput),
            ("live", measure_live),
            ("steady", measure_steady),
            ("burst", measure_burst),
            ("isolation", measure_isolation),
            ("series", measure_series),
            ("api", measure_api),
        ):
            if part in options.parts:
                measured(load, options, report)


def measure_throughput(load: LoadGenerator, options: Options, report: Report) -> None:
    """POST schedules a year ahead, so that none of them fires."""
    with step(f"POSTing for {options.post_seconds} s with {options.clients} clients"):
        created = scripts.CreatedSchedules(new=NewSchedule(due=now() + A_YEAR, target=load.receiver.url))
        report.throughput = load.clients.call_for(options.post_seconds, lambda: scripts.post(created))


def measure_live(load: LoadGenerator, options: Options, report: Report) -> None:
    """POST schedules while the earlier ones fire; all use the fast track."""
    due = load.run_live("/live", options.rate, min(LIVE_SECONDS, options.seconds))
    report.lateness.append(summarise(live_name(options), due, load.arrivals("/live")))


def measure_steady(load: LoadGenerator, options: Options, report: Report) -> None:
    """POST schedules ahead, so that they are swept. Their requests are metered from the POST to the outcome."""
    load.stack.reset_meter()
    due = load.run_swept({"/steady": partial(due_times.evenly, rate=options.rate, seconds=options.seconds)})["/steady"]
    reading = load.stack.meter()
    report.lateness.append(summarise(steady_name(options), due, load.arrivals("/steady")))
    report.metered_schedules = len(due)
    report.requests = requests.by_function(reading)
    report.per_schedule = requests.per_schedule(reading, len(due))


def measure_series(load: LoadGenerator, options: Options, report: Report) -> None:
    """Series of one minute, and after them as many plain schedules in one minute: both swept, both metered."""
    all_series, reading = load.run_series("/series", options.series, options.minutes)
    due = series.due_of(all_series)
    report.lateness.append(summarise(series_name(options), due, series.arrivals_of(load.receiver.of("/series"))))
    report.per_occurrence = requests.per_occurrence(reading, len(due))
    load.stack.reset_meter()
    each = partial(due_times.evenly_in_a_minute, count=options.series)
    plain = load.run_swept({"/plain": each})["/plain"]
    report.lateness.append(summarise(plain_name(options), plain, load.arrivals("/plain")))
    report.per_plain = requests.per_schedule(load.stack.meter(), len(plain))


def measure_isolation(load: LoadGenerator, options: Options, report: Report) -> None:
    """Half of what is due goes to a target that is well, and then to one that harms whoever waits for it."""
    half = partial(due_times.evenly, rate=options.rate // 2, seconds=options.seconds)
    for kind in (WELL, *options.beside):
        with Receiver() if kind == WELL else BadTarget(kind) as other:
            path = f"/beside-one-that-{kind}".replace(" ", "-")
            due = load.run_beside(path, half, other.url, f"/that-{kind}".replace(" ", "-"))
        report.lateness.append(summarise(isolation_name(options, kind), due, load.arrivals(path)))


def measure_burst(load: LoadGenerator, options: Options, report: Report) -> None:
    """POST two bursts of the same minute ahead, so that they are swept."""

    def spread(start: int) -> list[int]:
        return due_times.within_a_second(start + BURST_AFTER, options.burst)

    def at_once(start: int) -> list[int]:
        return due_times.at_once(start + BURST_AFTER + BURST_DISTANCE, options.burst)

    names = burst_names(options)
    due = load.run_swept({"/spread": spread, "/at-once": at_once})
    for path, name in zip(due, names, strict=True):
        report.lateness.append(summarise(name, due[path], load.arrivals(path)))


def measure_api(load: LoadGenerator, options: Options, report: Report) -> None:
    """Measure the calls of the API. This part is the last one, because it leaves thousands of schedules behind."""
    report.api = api.measure(load, options.call_seconds)


def measure_imports(options: Options, report: Report) -> None:
    """Import in fresh interpreters, one after the other, before the stack takes processor time."""
    with progress_bar("Importing each function", 1) as advance:
        report.imports = imports.measure_all(options.import_runs)
        advance(1)


def live_name(options: Options) -> str:
    """The name of the row."""
    return f"{options.rate}/s, POSTed meanwhile"


def steady_name(options: Options) -> str:
    """The name of the row."""
    return f"{options.rate}/s, POSTed ahead"


def isolation_name(options: Options, kind: str) -> str:
    """The name of the row."""
    return f"{options.rate // 2}/s, beside one that {kind}"


def series_name(options: Options) -> str:
    """The name of the row."""
    return f"{options.series} series of 1 min"


def plain_name(options: Options) -> str:
    """The name of the row."""
    return f"{options.series} plain in 1 min"


def burst_names(options: Options) -> tuple[str, str]:
    """The names of the two rows."""
    return f"{options.burst} within a second", f"{options.burst} at one instant"


def verdicts_of(report: Report, options: Options) -> list[targets.Verdict]:
    """Whether what was measured reached its targets."""
    rows: dict[str, Lateness] = {row.name: row for row in report.lateness}
    verdicts = [targets.of_correctness(report.lateness)] if rows else []
    verdicts += [targets.of_api(report.api)] if report.api else []
    for name in (steady_name(options), live_name(options)):
        verdicts += targets.of_steady(rows[name]) if name in rows else []
    names = [isolation_name(options, kind) for kind in (WELL, *options.beside)]
    verdicts += [targets.of_isolation(rows[names[0]], rows[name]) for name in names[1:] if name in rows]
    verdicts += [targets.of_burst(rows[name]) for name in burst_names(options) if name in rows]
    if report.per_schedule:
        verdicts += targets.of_requests(report.per_schedule)
    if report.imports:
        verdicts += targets.of_imports(report.imports)
    return verdicts + report.machine
