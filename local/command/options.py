"""The command line of `python -m local`."""

import argparse
from collections.abc import Mapping, Sequence

from attrs import frozen

from local.errors import EmulatorError

LAST_PORT = 65533  # the two ports after it are used, too


@frozen(kw_only=True)
class Options:
    """How the stack is started."""

    port: int  # of the API; the AWS endpoint and the receiver use the next two
    parameters: Mapping[str, str]  # template parameters
    demonstrates: bool
    tls: bool = False


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line. EmulatorError for a template parameter without a value, or a port out of range."""
    given = parser().parse_args(argv)
    parameters = template_parameters(given.delayer_period, given.parameter)
    if not 1 <= given.port <= LAST_PORT:
        raise EmulatorError(f"Port {given.port} cannot be used: choose one from 1 to {LAST_PORT}.")
    return Options(port=given.port, parameters=parameters, demonstrates=not given.no_demo, tls=given.tls)


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m local",
        description="Runs Delayer on this machine: an emulator of AWS with the stack of template.yaml in it. "
        "Everything is in memory and is lost after Ctrl-C.",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8080,
        help="port of the API; the AWS endpoint uses the next one, the receiver the one after it (default: 8080)",
    )
    parser.add_argument("--delayer-period", metavar="SECONDS", help="template parameter DelayerPeriod, 60 to 840")
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="another template parameter; repeatable"
    )
    parser.add_argument("--tls", action="store_true", help="the functions call AWS over TLS, as in AWS; it costs time")
    parser.add_argument("--no-demo", action="store_true", help="do not schedule the demonstration")
    return parser


def template_parameters(delayer_period: str | None, given: Sequence[str]) -> dict[str, str]:
    """The template parameters of a command line, written NAME=VALUE. EmulatorError for one without a value."""
    parameters = {"DelayerPeriod": delayer_period} if delayer_period else {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise EmulatorError(f"A parameter is written NAME=VALUE, for example Shards=2, not {text}.")
        parameters[name] = value
    return parameters
