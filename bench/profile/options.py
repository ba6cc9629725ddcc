"""The command line of the profiles."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from bench.command.options import PARAMETERS, positive

FUNCTIONS = ("api-schedule-post", "api-batch-post", "stream-enqueuer", "delayer-relay", "executor-http-request")


@frozen(kw_only=True)
class Options:
    """What is profiled, and how."""

    functions: tuple[str, ...] = ()  # all, if it is empty
    runs: int = 100
    top: int = 0  # rows of the profiler's table
    json: Path | None = None
    parameters: Mapping[str, str] = field(factory=lambda: {**PARAMETERS, "DelayerPeriod": "60"})


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line."""
    given = parser().parse_args(argv)
    return Options(functions=tuple(given.function or ()), runs=given.runs, top=given.top, json=given.json)


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.profile",
        description="Starts a stack of its own on free ports, runs each function of the firing path in a process of "
        "its own against it, and prints the processor time of one invocation: ours, and that within boto3. "
        "What AWS needs for its part is not in it.",
    )
    parser.add_argument("--function", action="append", choices=FUNCTIONS, help="only this one; repeatable")
    parser.add_argument("--runs", type=positive, default=100, metavar="N", help="invocations of each (default: 100)")
    parser.add_argument(
        "--top",
        type=positive,
        default=0,
        metavar="N",
        help="also show the N functions in which the most time was spent; the profiler makes all times longer",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    return parser
