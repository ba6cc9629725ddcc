"""From EventBridge to Delayer: what can be moved over, what cannot and why.

    found = read_files(["schedules/"])            # or read_account(session_of("eu-west-1"))
    items = translate(found, Options(now=datetime.now(UTC)))
    report = Report(outcomes=apply(items, destination, dry_run=True), gaps=found.gaps)

`destination` is a Delayer, as the protocol Destination says. Nothing at EventBridge is changed.
"""

from delayer_client.eventbridge.applying import Answer, Destination, Outcome, State, Unanswered, apply
from delayer_client.eventbridge.mapping.outcome import Left, Note, Options, Request, Source, Translated
from delayer_client.eventbridge.reading.account import read_account, session_of
from delayer_client.eventbridge.reading.files import read_files
from delayer_client.eventbridge.reading.sources import Found, Gap, ReadingError
from delayer_client.eventbridge.report import COLUMNS, Report
from delayer_client.eventbridge.translating import translate

__all__ = [
    "COLUMNS",
    "Answer",
    "Destination",
    "Found",
    "Gap",
    "Left",
    "Note",
    "Options",
    "Outcome",
    "ReadingError",
    "Report",
    "Request",
    "Source",
    "State",
    "Translated",
    "Unanswered",
    "apply",
    "read_account",
    "read_files",
    "session_of",
    "translate",
]
