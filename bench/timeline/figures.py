"""What was measured, as it is stored: the picture and the table of docs/how-it-works/journey.md are made from it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from attrs import asdict, fields, frozen

FILE: Final = Path(__file__).with_name("figures.json")
MARK: Final = "timeline"


@frozen(kw_only=True)
class Firing:
    """One schedule. All are milliseconds: the first two after the POST was sent, the others after the point in time."""

    answered: int  # the 201 was read
    sent: int  # its message was in the delayer queue
    claim_began: int
    claimed: int  # the ledger row was written
    reached: int  # the target had the request
    decided: int  # the executor had the target's answer
    written: int  # the ledger row had the outcome
    shown: int  # GET showed the end in the history


@frozen(kw_only=True)
class Instant:
    """When something had happened, over all schedules, in milliseconds."""

    median: float
    least: float
    most: float


@frozen(kw_only=True)
class Measured:
    """The stored file."""

    machine: Mapping[str, Any]  # when and on what it was measured
    schedules: int  # one at a time
    ahead: int  # milliseconds from the POST to the point in time
    instants: Mapping[str, Instant]  # by the fields of `Firing`


def summary(firings: Sequence[Firing]) -> dict[str, Instant]:
    """Each instant, over all of them."""
    values = {one.name: [getattr(firing, one.name) for firing in firings] for one in fields(Firing)}
    return {name: Instant(median=median(of), least=min(of), most=max(of)) for name, of in values.items()}


AFTER_POST: Final = {
    "answered": "the client has its 201",
    "sent": "the message is in the delayer queue",
}
AROUND_DUE: Final = {
    "claim_began": "the relay begins its claim",
    "claimed": "the claim is in the ledger, the hand-over follows",
    "reached": "the target has the request: the lateness",
    "decided": "the executor has the target's answer",
    "written": "the outcome is in the ledger",
    "shown": "`GET` shows the end in the history",
}


def write(measured: Measured, file: Path = FILE) -> None:
    """As JSON."""
    file.write_text(json.dumps(asdict(measured), indent=1) + "\n", encoding="utf-8")


def read(file: Path = FILE) -> Measured:
    """As `write` left it."""
    found = json.loads(file.read_text(encoding="utf-8"))
    return Measured(**{**found, "instants": {name: Instant(**one) for name, one in found["instants"].items()}})


def table(measured: Measured) -> str:
    """Where it was measured, and the figures of the picture."""
    lines = [under(measured), "", "| what has happened | median | all, from to |", "|---|---:|---:|"]
    for origin, instants in (("after the POST was sent", AFTER_POST), ("after the point in time", AROUND_DUE)):
        lines.append(f"| **{origin}** | | |")
        lines += [row(words, measured.instants[name]) for name, words in instants.items()]
    return "\n".join(lines)


def under(measured: Measured) -> str:
    """The load and the machine, in a sentence."""
    machine = measured.machine
    return (
        f"Measured on {machine['at'][:10]} with {measured.schedules} schedules, one at a time, each POSTed "
        f"{measured.ahead / 1000:g} seconds ahead, with the journal: {machine['processors']} processors, Python "
        f"{machine['python']}, {machine['system']} (`bench/timeline/figures.json`)."
    )


def row(words: str, found: Instant) -> str:
    """One instant."""
    least = shown(found.least).removesuffix(" ms")
    return f"| {words} | {shown(found.median)} | {least} to {shown(found.most)} |"


def shown(value: float) -> str:
    """With the sign that typography has for it."""
    return f"{value:,.0f} ms".replace("-", "−")
