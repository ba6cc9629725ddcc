"""Chooses the sentence and the exit status when something goes wrong."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from delayer_client.cli.exits import Exit
from delayer_client.cli.extras import Missing
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.session import Declined, Session
from delayer_client.cli.showing.streams import NotWritten, abandon


class Failed(Exception):
    """Ends a command with a sentence and an exit status."""

    def __init__(self, message: str, status: Exit) -> None:
        super().__init__(message)
        self.status = status


def _statuses() -> list[tuple[type[BaseException], Exit]]:
    """The first that an error is of counts."""
    from delayer_client import errors

    return [
        (NotRead, Exit.USAGE),
        (Declined, Exit.NO),
        (Missing, Exit.USAGE),
        (NotWritten, Exit.NOT_WRITTEN),
        (TimeoutError, Exit.NOT_IN_TIME),
        (errors.WrongArgument, Exit.USAGE),
        (errors.NoCredentials, Exit.NOT_ALLOWED),
        (errors.NotAllowed, Exit.NOT_ALLOWED),
        (errors.NoAnswer, Exit.NO_ANSWER),
        (errors.NotUnderstood, Exit.NO_ANSWER),
        (errors.Invalid, Exit.USAGE),
        (errors.NotFound, Exit.NOT_FOUND),
        (errors.Expired, Exit.NOT_FOUND),
        (errors.OverQuota, Exit.NO_ANSWER),
        (errors.Unavailable, Exit.NO_ANSWER),
        (errors.DelayerError, Exit.NO),
    ]


OPERATORS: Final = {
    "NoCredentials": Exit.NOT_ALLOWED,
    "NotAllowed": Exit.NOT_ALLOWED,
    "NoStack": Exit.NOT_FOUND,
    "NoEngine": Exit.NO_ANSWER,
    "NotYours": Exit.NOT_ALLOWED,
    "WrongSetting": Exit.USAGE,
    "Interrupted": Exit.NO_ANSWER,
    "Unfinished": Exit.NO_ANSWER,
}


WITHHELD: Final = "The token of the profile was not sent: it is for the URL of the profile.\n"


def status_of(error: BaseException) -> Exit | None:
    """None for what is no refusal, but a defect."""
    if isinstance(error, Failed):
        return error.status
    names = [kind.__name__ for kind in type(error).__mro__]
    if "OperatorError" in names:  # looked up by name: boto3 is not imported to say that it is missing
        return next((OPERATORS[name] for name in names if name in OPERATORS), Exit.NO)
    if "ReadingError" in names:  # of what is imported
        return Exit.USAGE
    return next((status for kind, status in _statuses() if isinstance(error, kind)), None)


def message_of(error: BaseException, session: Session) -> str:
    """For a person."""
    from delayer_client.errors import NoAnswer, NotAllowed, NotUnderstood, OverQuota
    from delayer_client.transport.proxies import is_here, proxy_of

    notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, NoAnswer) and not error.may_be_applied:
        start = "Start one with `delayer serve`, or give --url." if is_here(session.url) else "Is --url right?"
        proxy = proxy_of(session.url)
        way = f" It was asked through the proxy {proxy}: {error}" if proxy else ""
        return f"No Delayer answers at {session.url}. {start}{way}{notes}"
    if isinstance(error, NotUnderstood):
        return f"What answers at {session.url} is no Delayer, or of another version. Is --url right?\n{error}"
    if isinstance(error, NotAllowed) and error.status == 401:
        return (
            f"{error}\n{WITHHELD if session.withheld else ''}"
            "Give a token (DELAYER_TOKEN, or `delayer configure --token @file`), or another --profile. For a domain of "
            "your own that AWS's credentials sign for, give --aws-region."
        )
    if isinstance(error, OverQuota) and error.retry_after:
        return f"{error}\nTry it again in {error.retry_after:.0f} s."
    if isinstance(error, Declined):
        return "Nothing was done."
    if type(error).__name__ == "Interrupted":  # of an operator's call: boto3 is not imported here
        return f"The call failed: {error}. To repeat it does no harm."
    if fields := getattr(error, "errors", ()):
        return "\n".join(
            f"{one.field}: {one.problem}" + (f"\n  Allowed: {one.allowed}" if one.allowed else "") for one in fields
        )
    return f"{error}{notes}"


@contextmanager
def reporting(session: Session) -> Iterator[None]:
    """Turns what goes wrong into a sentence and an exit status."""
    try:
        yield
        if session.output.lost:
            raise session.output.lost
    except KeyboardInterrupt:
        session.output.error("Interrupted.")
        raise typer.Exit(Exit.INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read has gone, as `head` does. Nothing can be reporting to it.
        abandon(sys.stdout)
        raise typer.Exit(Exit.OK) from None
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback
        raise typer.Exit(_tell(error, session)) from None
    finally:
        session.close()


def _tell(error: Exception, session: Session) -> Exit:
    if isinstance(error, typer.Exit | typer.Abort | typer.TyperException):
        if session.output.lost:
            session.output.error(str(session.output.lost))
        raise error
    status = status_of(error)
    if status is None:
        if os.environ.get("DELAYER_TRACEBACK"):
            raise error
        session.output.error(
            f"This is a defect of the command line: {type(error).__name__}: {error}\n"
            "With DELAYER_TRACEBACK=1 it says where."
        )
        return Exit.DEFECT
    problem = getattr(error, "problem", None)
    if session.as_json and problem is not None:
        session.output.error_object(problem.as_json())
    else:
        session.output.error(message_of(error, session))
    return status
