"""The command line of the profiles."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from bench.command.options import PARAMETERS, positive

FUNCTIONS = ("api-schedule-post", "api-batch-post", "stream-enqueuer", "delayer-relay", "executor-http-request")

USUAL = 100
USUAL_IN_MEMORY = 2_000


@frozen(kw_only=True)
class Options:
    """What is profiled, and how."""

    functions: tuple[str, ...] = ()  # all, if it is empty
    runs: int = USUAL
    top: int = 0  # rows of the profiler's table
    json: Path | None = None
    in_memory: bool = False  # on the fakes, in place of a stack
    parameters: Mapping[str, str] = field(factory=lambda: {**PARAMETERS, "DelayerPeriod": "60"})


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line."""
    given = parser().parse_args(argv)
    return Options(
        functions=tuple(given.function or ()),
        runs=given.runs or (USUAL_IN_MEMORY if given.in_memory else USUAL),
        top=given.top,
        json=given.json,
        in_memory=given.in_memory,
    )


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.profile",
        description="Starts a stack of its own on free ports, runs each function of the firing path in a process of "
        "its own against it, and prints the processor time of one invocation: ours, and that within boto3. "
        "What AWS needs for its part is not in it.",
    )
    parser.add_argument("--function", action="append", choices=FUNCTIONS, help="only this one; repeatable")
    parser.add_argument(
        "--in-memory",
        action="store_true",
        help="in place of all this, POST schedules to the fakes and fire them, in one process: prints the processor "
        "time and the calls of our own functions for one schedule. It takes some seconds, and knows no AWS",
    )
    parser.add_argument(
        "--runs",
        type=positive,
        metavar="N",
        help=f"invocations of each function (default: {USUAL}), or schedules with --in-memory ({USUAL_IN_MEMORY:,})",
    )
    parser.add_argument(
        "--top",
        type=positive,
        default=0,
        metavar="N",
        help="also show the N functions in which the most time was spent; the profiler makes all times longer",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    return parser
