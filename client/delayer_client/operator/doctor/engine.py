"""Says what is wrong with an engine on this machine, by its status and by what its operator sees of the folder."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from delayer_client.operator.doctor.entry import Entry
from delayer_client.operator.doctor.finding import Finding, Severity
from delayer_client.operator.engine import OperatorEngine
from delayer_client.operator.errors import OperatorError

AREA: Final = "engine"
OTHERS: Final = 0o077  # rights of the group and of everybody
LITTLE: Final = 1_000_000_000  # bytes free
LONG_LOG: Final = 64_000_000  # bytes

SILENT: Final = Entry(
    code="engine-silent",
    severity=Severity.PROBLEM,
    area=AREA,
    means="No engine answers on the folder, or it is that of another user.",
    do="Start it, or give the folder of the one that runs.",
)
RUNNING: Final = Entry(code="engine-running", severity=Severity.OK, area=AREA, means="It runs.")
FULL: Final = Entry(
    code="engine-disk-full",
    severity=Severity.PROBLEM,
    area=AREA,
    means="There is so little room on the disk that nothing new is accepted.",
    do="Make room on the disk of the folder. What was accepted goes on being fired.",
)
FILLING: Final = Entry(
    code="engine-disk-low",
    severity=Severity.WARNING,
    area=AREA,
    means="There is little room on the disk; below 100 MB nothing new is accepted.",
    do="Make room on the disk of the folder, or keep histories for less time (--journal-days).",
)
ROOM: Final = Entry(code="engine-disk", severity=Severity.OK, area=AREA, means="There is room on the disk.")
LOG: Final = Entry(
    code="engine-log-long",
    severity=Severity.WARNING,
    area=AREA,
    means="The log of the database (-wal) is longer than it should become.",
    do="Look whether another program has the database open for long.",
)
LATE: Final = Entry(
    code="engine-late",
    severity=Severity.WARNING,
    area=AREA,
    means="Schedules have been due for more than a second and are not claimed.",
    do="Look whether all attempts are taken by slow targets; raise --attempts, or limit a target (delayer flow limit).",
)
ON_TIME: Final = Entry(code="engine-on-time", severity=Severity.OK, area=AREA, means="All that is due is claimed.")
KEPT_WAITING: Final = Entry(
    code="engine-flow",
    severity=Severity.NOTE,
    area=AREA,
    means="Suspensions or open circuits keep schedules waiting that are due.",
    do="`delayer flow list`, with the same --data, shows them.",
)
GIVEN_UP: Final = Entry(
    code="engine-dead-letters",
    severity=Severity.WARNING,
    area=AREA,
    means="There are dead letters: their schedules wait for somebody.",
    do="Look at them with `delayer dead-letters list`, with the same --data, and redrive or discard them.",
)
FAILED: Final = Entry(
    code="engine-failed",
    severity=Severity.NOTE,
    area=AREA,
    means="Schedules have failed, and their bodies are kept.",
    do="`delayer dead-letters list --prefix failed/`, with the same --data, shows them; redrive or discard them.",
)
DEFECTS: Final = Entry(
    code="engine-unexpected",
    severity=Severity.WARNING,
    area=AREA,
    means="Code of Delayer's has raised what nobody expected.",
    do="Look at the standard error of the engine, and report it.",
)
OPEN: Final = Entry(
    code="engine-folder-open",
    severity=Severity.WARNING,
    area=AREA,
    means="Others than the user of the engine may look into the folder, where payloads are clear.",
    do="chmod 700 the folder.",
)
ENTRIES: Final = (
    *(SILENT, RUNNING, FULL, FILLING, ROOM, LOG, LATE, ON_TIME, KEPT_WAITING, GIVEN_UP, FAILED, DEFECTS, OPEN),
)


def examine(engine: OperatorEngine) -> list[Finding]:
    """All findings. Raises nothing: an engine that does not answer is one."""
    try:
        status, flow = engine.status(), engine.flow.list()
    except OperatorError as error:
        return [SILENT(str(error), about=str(engine.folder))]
    return [*judged(status), *_waiting(flow), *_rights(engine.folder)]


def judged(status: Mapping[str, Any]) -> Iterator[Finding]:
    """By its status alone."""
    yield RUNNING(
        f"Version {status['version'] or '(not installed)'}, process {status['process']}, since {status['startedAt']}: "
        f"{status['waiting']:,} schedules wait, {status['underWay']:,} attempts are under way.",
        waiting=status["waiting"],
        underWay=status["underWay"],
    )
    free = status["freeBytes"]
    entry = FULL if status["restricted"] else FILLING if free < LITTLE else ROOM
    yield entry(f"{free // 1_000_000:,} MB are free.", freeBytes=free)
    if (log := status.get("logBytes", 0)) > LONG_LOG:
        yield LOG(f"It has {log // 1_000_000:,} MB.", logBytes=log)
    yield (LATE if status["late"] else ON_TIME)(_lateness(status), late=status["late"], lateness=status["lateness"])
    letters = status["deadLetters"]
    if number := letters.get("dead-lettered"):
        yield GIVEN_UP(f"Dead letters: {number:,}.", number=number)
    if number := letters.get("failed"):
        yield FAILED(f"Schedules that have failed: {number:,}.", number=number)
    if number := status["counts"].get("Unexpected"):
        yield DEFECTS(f"It has happened {number:,} times since it began.", number=number)


def _lateness(status: Mapping[str, Any]) -> str:
    bounds = [f"up to {one['upToMs']:,} ms" if "upToMs" in one else "later" for one in status["lateness"]]
    counted = "; ".join(f"{one['number']:,} {bound}" for one, bound in zip(status["lateness"], bounds, strict=True))
    late = f"{status['late']:,} have been due for more than a second."
    return f"{late} First attempts since it began, by lateness: {counted}."


def _waiting(flow: Mapping[str, Any]) -> Iterable[Finding]:
    suspended, circuits = len(flow["suspensions"]), len(flow["circuits"])
    if suspended or circuits:
        yield KEPT_WAITING(
            f"Suspensions: {suspended:,}. Open circuits: {circuits:,}.", suspensions=suspended, circuits=circuits
        )


def _rights(folder: Path) -> Iterable[Finding]:
    if (mode := folder.stat().st_mode & 0o777) & OTHERS:
        yield OPEN(f"The mode of the folder is {mode:04o}.", about=str(folder))
