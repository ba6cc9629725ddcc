"""The command line of the benchmarks."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from bench.peers.names import NAMES
from bench.peers.names import USUAL as USUAL_PEERS
from local.command.options import template_parameters

USUAL = ("steady", "live", "burst", "throughput", "api", "imports")
SERIES = "series"  # takes ten minutes by itself
ISOLATION = "isolation"  # as well
MACHINE = "machine"  # what one machine can do, in one go; with the journal
SERVE = "serve"  # what `delayer serve` can do, without the stack
PARTS = (*USUAL, SERIES, ISOLATION, MACHINE, SERVE)
DELAYER_PERIOD = "60"
# The journal takes processor time, which on one machine adds to the lateness. On AWS the two share no processor.
# The canary would be counted among the requests of the schedules.
PARAMETERS = {"Lifecycle": "off", "Canary": "off"}
BESIDE = ("hangs", "refuses", "drips")  # what the other target does
WITH_ISOLATION = {"ExecutorConcurrency": "10"}  # so few that one target could take them all
WITH_MACHINE = {"Lifecycle": "journal"}
WITH_SERIES = {"Lifecycle": "events"}  # a series is stepped by events


@frozen(kw_only=True)
class Options:
    """What is measured, and how much of it."""

    rate: int = 50  # schedules due per second
    seconds: int = 60  # for which schedules are due at this rate
    burst: int = 500  # schedules due within one second
    clients: int = 8  # that call at the same time
    post_seconds: int = 10  # for which the clients POST
    call_seconds: int = 5  # for which they make each of the other calls
    import_runs: int = 5  # fresh interpreters for each function
    series: int = 5000  # each of one minute
    minutes: int = 3  # for which they are due
    waiting: int = 1_000_000  # schedules, in the folder of `delayer serve`
    serve_series: tuple[int, ...] = (10_000, 20_000)  # of one minute, one number after the other
    beside: tuple[str, ...] = BESIDE
    parts: tuple[str, ...] = USUAL
    parameters: Mapping[str, str] = field(factory=dict)  # template parameters
    tls: bool = False  # the functions call AWS over TLS
    json: Path | None = None  # file for all figures
    peers: tuple[str, ...] = ()  # the schedulers that are measured beside each other, in place of the parts


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line. EmulatorError for a template parameter without a value."""
    given = parser().parse_args(argv)
    quick, parts = given.quick, tuple(given.only or USUAL)
    needed: dict[str, str] = {}
    for part, its_own in ((MACHINE, WITH_MACHINE), (SERIES, WITH_SERIES), (ISOLATION, WITH_ISOLATION)):
        needed.update(its_own if part in parts else {})
    return Options(
        rate=given.rate or (20 if quick else 50),
        seconds=given.seconds or (10 if quick else 60),
        burst=given.burst or (100 if quick else 500),
        post_seconds=3 if quick else 10,
        call_seconds=2 if quick else 5,
        import_runs=3 if quick else 5,
        series=given.series or (500 if quick else 5000),
        minutes=given.minutes or (2 if quick else 3),
        waiting=10_000 if quick else 1_000_000,
        serve_series=(given.series,) if given.series else (500,) if quick else (10_000, 20_000),
        beside=tuple(given.beside or BESIDE),
        parts=parts,
        parameters={
            **PARAMETERS,
            **needed,
            **template_parameters(DELAYER_PERIOD, given.parameter),
        },
        tls=given.tls,
        json=given.json,
        peers=peers_of(given),
    )


def peers_of(given: argparse.Namespace) -> tuple[str, ...]:
    """Those that are named; otherwise all, or the usual ones in a small run."""
    wanted = given.peer or (() if not given.peers else USUAL_PEERS if given.quick else NAMES)
    return tuple(name for name in NAMES if name in wanted)


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Starts a stack of its own on free ports, creates schedules in it, and prints what was measured: "
        "lateness, throughput, the calls of the API, what AWS would bill, import times. It takes about ten minutes, "
        "with --quick about six. The exit status is 1 if a schedule was early, lost or doubled, or if a call did not "
        "get the expected response; otherwise it is 0.",
    )
    parser.add_argument("--rate", type=positive, metavar="N", help="schedules due per second (default: 50)")
    parser.add_argument(
        "--seconds", type=positive, metavar="N", help="for how long schedules are due at this rate (default: 60)"
    )
    parser.add_argument("--burst", type=positive, metavar="N", help="schedules due in the same second (default: 500)")
    parser.add_argument("--series", type=positive, metavar="N", help="series of one minute (default: 5000)")
    parser.add_argument("--minutes", type=positive, metavar="N", help="for how long they are due (default: 3)")
    parser.add_argument(
        "--quick", action="store_true", help="a small run: --rate 20 --seconds 10 --burst 100 --series 500 --minutes 2"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=PARTS,
        help="measure only this part; repeatable. series, beside as many plain schedules, is measured only if it is "
        "named, and then Lifecycle=events is the default; so is isolation, beside targets that hang, refuse and drip, "
        "and then ExecutorConcurrency=10 is the default; so is machine, which tells what one machine can do in about "
        "seven minutes, and then Lifecycle=journal is the default; so is serve, which measures `delayer serve` "
        "alone, in about nine minutes, and keeps a folder of 2 GB in .local/serve for the next time",
    )
    parser.add_argument(
        "--beside",
        action="append",
        choices=BESIDE,
        help="of isolation: measure beside a target that does only this; repeatable",
    )
    parser.add_argument(
        "--peers",
        action="store_true",
        help="in place of all this, measure Delayer beside Celery, APScheduler, huey, procrastinate and a model of "
        "delayer-aws: about half an hour, with --quick about ten minutes. One that cannot be installed or started is "
        "left out. The exit status is 1 if Delayer had a schedule that was early or lost, or doubled without a crash, "
        "or an untrue answer to a cancel",
    )
    parser.add_argument(
        "--peer", action="append", choices=NAMES, help="the same, but measure only this scheduler; repeatable"
    )
    parser.add_argument(
        "--tls", action="store_true", help="the functions call AWS over TLS, as in AWS, which costs processor time"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a template parameter; repeatable (default: DelayerPeriod=60, Lifecycle=off, Canary=off)",
    )
    return parser


def positive(text: str) -> int:
    """A whole number above zero; otherwise the error that argparse expects."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above zero")
    return int(text)
