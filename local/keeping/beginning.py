"""Decides how a run begins: from what is there, before anything is started."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from local.errors import EmulatorError
from local.keeping.commands import command, on_another
from local.keeping.manifest import Manifest, version_of_delayer
from local.keeping.marker import Killed, killed_in
from local.keeping.saved import manifest_in


class Choice(StrEnum):
    """How the user wants the state to be kept."""

    CLEAN = "1"  # begin with what a clean stop has saved, or with nothing
    OLD = "old"  # the same; after a kill, with what was saved before
    NEW = "new"  # begin with nothing, whatever is saved


@frozen(kw_only=True)
class Beginning:
    """A run begins with this."""

    restored: Manifest | None = None  # None: nothing
    notes: tuple[str, ...] = ()  # sentences for the user


@frozen(kw_only=True)
class Found:
    """The contents of the folder of a state."""

    folder: Path
    saved: Manifest | None = None
    refusal: str = ""  # why the state that is there cannot be taken
    killed: Killed | None = field(default=None)


def found_in(folder: Path) -> Found:
    """Look. Only who holds the lock may."""
    try:
        saved, refusal = manifest_in(folder), ""
    except EmulatorError as error:
        saved, refusal = None, str(error)
    killed = killed_in(folder)
    if killed and saved and saved.run == killed.marker.run:
        killed = None  # it had saved everything, and was killed before it could take its marker away
    return Found(folder=folder, saved=saved, refusal=refusal, killed=killed)


def decide(found: Found, keep: Choice, port: int, parameters: Mapping[str, str]) -> Beginning:
    """Decides what to begin with. Raises EmulatorError, with the ways to go on, if the user must decide."""
    if found.killed and keep is Choice.CLEAN:
        return after_a_kill(found, found.killed, port)
    if keep is Choice.NEW or not (found.saved or found.refusal):
        return Beginning(notes=(lost(found.killed),) if found.killed else ())
    if found.saved is None:
        raise refused(found.folder, found.refusal, port)
    if found.saved.port != port:
        reason = f"it was saved on port {found.saved.port}, and the addresses of its queues contain that port"
        raise refused(found.folder, reason, port)
    notes = [again(found.killed, found.saved)] if found.killed else []
    if found.saved.delayer != version_of_delayer():
        notes.append(
            f"Delayer {found.saved.delayer} has saved the state; this version reads all that older ones wrote."
        )
    notes += [f"A parameter has changed: {change}." for change in changes(found.saved.parameters, parameters)]
    return Beginning(restored=found.saved, notes=tuple(notes))


def after_a_kill(found: Found, killed: Killed, port: int) -> Beginning:
    """With an older state the user has to choose: taken, it would fire again what has fired since."""
    if not (found.saved or found.refusal):
        return Beginning(notes=(lost(killed),))
    which = ""
    if found.saved:
        which = f" of {clock(found.saved.saved_at)}, with {schedules(found.saved.waiting)},"
    raise EmulatorError(
        f"{lost(killed)} The state{which} from before it is still there, but what has fired since then would fire "
        f"again. Choose: `{command('old', port)}` begins with it all the same, `{command('new', port)}` begins with "
        "nothing."
    )


def lost(killed: Killed) -> str:
    """Says what a killed run has lost."""
    return (
        f"The run of {clock(killed.marker.began_at)} was killed (its last sign of life: {clock(killed.alive_at)}), and "
        "only a clean stop saves: everything that was scheduled, changed, cancelled or fired in that time is lost."
    )


def again(killed: Killed, saved: Manifest) -> str:
    """Says what it means to begin with a state from before a killed run."""
    return f"{lost(killed)} What has fired since {clock(saved.saved_at)} fires again."


def refused(folder: Path, reason: str, port: int) -> EmulatorError:
    """Why a state is refused, and what the user can do about it."""
    return EmulatorError(
        f"The state in {folder} cannot be used: {reason}. It was left as it is. Use another port "
        f"(`{on_another(port)}`), go back to the version that has saved it, or begin with nothing "
        f"(`{command('new', port)}`, which replaces {folder} at its end)."
    )


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The parameters that are given otherwise, in words."""
    names = sorted(before.keys() | now.keys())
    return [
        f"{name} is now {now.get(name, 'the default')}, and was {before.get(name, 'the default')}"
        for name in names
        if before.get(name) != now.get(name)
    ]


def clock(epoch_seconds: int) -> str:
    """An instant in words."""
    return datetime.fromtimestamp(epoch_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def schedules(number: int) -> str:
    """So many of them."""
    return "1 schedule" if number == 1 else f"{number:,} schedules"
