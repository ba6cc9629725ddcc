"""The parts of a run: each measures, and adds rows and verdicts to the report."""

from functools import partial

from bench import api, due_times, imports, requests, targets
from bench.calls import Wanted
from bench.clients import Clients
from bench.due_times import SECOND
from bench.lateness import Lateness, summarise
from bench.options import Options
from bench.progress import counting
from bench.report import Report
from bench.scenarios import Bench, now
from local.progress import step
from local.receiver import Receiver
from local.stack import LocalStack

BURST_AFTER = 5 * SECOND  # into the minute, so that its sweep is long over
BURST_DISTANCE = 20 * SECOND
LIVE_SECONDS = 20
A_YEAR = 365 * 24 * 3600 * SECOND


def measure(options: Options) -> Report:
    """All parts that were asked for."""
    report = Report()
    if "imports" in options.parts:
        measure_imports(options, report)
    if set(options.parts) - {"imports"}:
        with_stack(options, report)
    report.verdicts = verdicts_of(report, options)
    return report


def with_stack(options: Options, report: Report) -> None:
    """The parts that need a stack; all use the same one."""
    with (
        Receiver() as receiver,
        LocalStack(0, options.parameters, metering=True, progress=step) as stack,
    ):
        bench = Bench(
            stack=stack,
            receiver=receiver,
            clients=Clients(stack.port, options.clients),
            period_ms=int(options.parameters["DelayerPeriod"]) * SECOND,
        )
        bench.warm_up()
        for part, measured in (
            ("throughput", measure_throughput),
            ("live", measure_live),
            ("steady", measure_steady),
            ("burst", measure_burst),
            ("api", measure_api),
        ):
            if part in options.parts:
                measured(bench, options, report)


def measure_throughput(bench: Bench, options: Options, report: Report) -> None:
    """Schedules a year ahead, so that nothing of them fires."""
    with step(f"POSTing for {options.post_seconds} s with {options.clients} clients"):
        shelf = api.Shelf(wanted=Wanted(now() + A_YEAR, bench.receiver.url))
        report.throughput = bench.clients.call_for(options.post_seconds, lambda: api.post(shelf))


def measure_live(bench: Bench, options: Options, report: Report) -> None:
    """POSTed while the earlier ones fire: all by the fast track."""
    due = bench.live("/live", options.rate, min(LIVE_SECONDS, options.seconds))
    report.lateness.append(summarise(live_name(options), due, bench.arrivals("/live")))


def measure_steady(bench: Bench, options: Options, report: Report) -> None:
    """POSTed ahead and swept; its requests are metered from the POST to the outcome."""
    bench.stack.reset_meter()
    due = bench.swept({"/steady": partial(due_times.evenly, rate=options.rate, seconds=options.seconds)})["/steady"]
    reading = bench.stack.meter()
    report.lateness.append(summarise(steady_name(options), due, bench.arrivals("/steady")))
    report.metered_schedules = len(due)
    report.requests = requests.by_function(reading)
    report.per_schedule = requests.per_schedule(reading, len(due))


def measure_burst(bench: Bench, options: Options, report: Report) -> None:
    """Two bursts of one minute, POSTed ahead and swept."""

    def spread(start: int) -> list[int]:
        return due_times.within_a_second(start + BURST_AFTER, options.burst)

    def at_once(start: int) -> list[int]:
        return due_times.at_once(start + BURST_AFTER + BURST_DISTANCE, options.burst)

    names = burst_names(options)
    due = bench.swept({"/spread": spread, "/at-once": at_once})
    for path, name in zip(due, names, strict=True):
        report.lateness.append(summarise(name, due[path], bench.arrivals(path)))


def measure_api(bench: Bench, options: Options, report: Report) -> None:
    """Last, as it leaves thousands of schedules behind."""
    report.api = api.measure(bench, options.call_seconds)


def measure_imports(options: Options, report: Report) -> None:
    """Fresh interpreters, one after the other, before the stack takes processor time."""
    with counting("Importing each function", 1) as advance:
        report.imports = imports.measure_all(options.import_runs)
        advance(1)


def live_name(options: Options) -> str:
    """Name of the row."""
    return f"{options.rate}/s, POSTed meanwhile"


def steady_name(options: Options) -> str:
    """Name of the row."""
    return f"{options.rate}/s, POSTed ahead"


def burst_names(options: Options) -> tuple[str, str]:
    """Names of the two rows."""
    return f"{options.burst} within a second", f"{options.burst} at one instant"


def verdicts_of(report: Report, options: Options) -> list[targets.Verdict]:
    """The targets of what was measured."""
    rows: dict[str, Lateness] = {row.name: row for row in report.lateness}
    verdicts = [targets.of_correctness(report.lateness)] if rows else []
    verdicts += [targets.of_api(report.api)] if report.api else []
    for name in (steady_name(options), live_name(options)):
        verdicts += targets.of_steady(rows[name]) if name in rows else []
    verdicts += [targets.of_burst(rows[name]) for name in burst_names(options) if name in rows]
    if report.per_schedule:
        verdicts += targets.of_requests(report.per_schedule)
    if report.imports:
        verdicts += targets.of_imports(report.imports)
    return verdicts
