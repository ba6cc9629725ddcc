"""The command line of the benchmarks."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from attrs import field, frozen

from local.__main__ import template_parameters

PARTS = ("steady", "live", "burst", "throughput", "api", "imports")
# The journal takes processor time that the lateness of one machine would show; on AWS they share none.
PARAMETERS = {"Lifecycle": "off"}


@frozen(kw_only=True)
class Options:
    """What is measured, and how much of it."""

    rate: int = 50  # schedules due per second
    seconds: int = 60  # how long they are
    burst: int = 500  # schedules due within one second
    clients: int = 8  # that call at the same time
    post_seconds: int = 10  # how long they POST
    call_seconds: int = 5  # how long they make each of the other calls
    import_runs: int = 5  # fresh interpreters for each function
    parts: tuple[str, ...] = PARTS
    parameters: dict[str, str] = field(factory=dict)  # template parameters
    json: Path | None = None


def parse(argv: Sequence[str] | None = None) -> Options:
    """The command line, read. Raises LocalStackError for a template parameter without a value."""
    given = parser().parse_args(argv)
    small = given.quick
    return Options(
        rate=given.rate or (20 if small else 50),
        seconds=given.seconds or (10 if small else 60),
        burst=given.burst or (100 if small else 500),
        post_seconds=3 if small else 10,
        call_seconds=2 if small else 5,
        import_runs=3 if small else 5,
        parts=tuple(given.only or PARTS),
        parameters={**PARAMETERS, **template_parameters(given)},
        json=given.json,
    )


def parser() -> argparse.ArgumentParser:
    """What `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Starts a stack of its own on free ports, schedules against it, and prints what it measured: "
        "lateness, throughput, the calls of the API, what AWS would bill, import times. About ten minutes; with "
        "--quick about six. Ends with 1 if a schedule was early, lost or doubled, or a call was not answered as "
        "expected, else with 0.",
    )
    parser.add_argument("--rate", type=positive, metavar="N", help="schedules due per second (default: 50)")
    parser.add_argument("--seconds", type=positive, metavar="N", help="how long they are due (default: 60)")
    parser.add_argument("--burst", type=positive, metavar="N", help="schedules due in the same second (default: 500)")
    parser.add_argument("--quick", action="store_true", help="a small run: --rate 20 --seconds 10 --burst 100")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure only this part; repeatable")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file, too")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a template parameter; repeatable (default: DelayerPeriod=60, Lifecycle=off)",
    )
    parser.set_defaults(delayer_period="60")
    return parser


def positive(text: str) -> int:
    """A whole number above zero, as argparse wants it told."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above zero")
    return int(text)
