"""The command line of `python -m operate.verify`."""

import argparse
import os
from collections.abc import Sequence

from delayer_client.operator.verify import LONGEST_BATCH, PARTS, Options


def parse(argv: Sequence[str] | None = None) -> Options:
    """Read the command line. argparse ends the process with 2 if it is wrong."""
    given = parser().parse_args(argv)
    return Options(
        url=given.url.rstrip("/"),
        token=os.environ.get("TOKEN", ""),
        stack=given.stack,
        parts=tuple(part for part in PARTS if part in (given.only or PARTS) and part not in given.skip),
        bulk=given.bulk,
        allowed_ms=given.allowed_ms,
        canary_seconds=given.canary_seconds,
    )


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m operate.verify",
        description="Checks what a deployed stack promises, by using it as its owner does. It creates about 140 "
        "schedules, a series and two queues named delayer-target-verify-…, and removes what it has made. With a token "
        "in the environment variable TOKEN it calls the API with it; without, it signs its calls if the stack wants "
        "it, with the credentials that boto3 finds. With these it also looks into the account; what it cannot check "
        "without them, it says. The far schedules take as long as the stack's DelayerPeriod and about two minutes "
        "more. The exit status is 0 if everything that was asked for was checked and held, otherwise it is 1.",
    )
    parser.add_argument("--url", required=True, type=an_address, help="of the API: the output ApiUrl of the stack")
    parser.add_argument("--stack", default="delayer", help="name of the stack (default: delayer)")
    parser.add_argument("--skip", action="append", default=[], choices=PARTS, help="leave this part out; repeatable")
    parser.add_argument("--only", action="append", choices=PARTS, help="check only this part; repeatable")
    parser.add_argument(
        "--bulk", type=a_batch, default=LONGEST_BATCH, metavar="N", help="schedules in the batch (default: 100)"
    )
    parser.add_argument(
        "--allowed-ms",
        type=int,
        default=1000,
        metavar="MS",
        help="how late a schedule may be; in the batch five times as late (default: 1000)",
    )
    parser.add_argument(
        "--canary-seconds",
        type=int,
        default=240,
        metavar="S",
        help="how long to wait for the first figure of the canary (default: 240)",
    )
    return parser


def an_address(text: str) -> str:
    """An absolute http or https URL; otherwise the error that argparse expects."""
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an address such as https://abc.execute-api.eu-west-1.amazonaws.com"
        )
    return text


def a_batch(text: str) -> int:
    """1 to 100; otherwise the error that argparse expects."""
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST_BATCH:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {LONGEST_BATCH}")
    return int(text)
