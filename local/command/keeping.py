"""The command prints these texts about a state that is kept: what it begins with, and what its end has saved."""

from typing import Final

from local.keeping.beginning import Beginning, Choice, clock, schedules
from local.keeping.commands import command
from local.keeping.saved import FILE
from local.project import PROJECT
from local.stack.emulated_stack import EmulatedStack
from local.stack.keeper import Saved
from local.stack.process import STATE

REPEATED: Final = (
    "Stream records are saved, too. What ran for a queue is repeated, as after a crash; asynchronous invocations are "
    "not."
)
NOT_SAVED: Final = "Stopped before its state was saved. The next start with KEEP=1 says what is lost."


def begun(stack: EmulatedStack) -> str:
    """Says what the stack has begun with; empty if it keeps nothing and nothing is kept."""
    if stack.keeper:
        return beginning_with(stack.keeper.kept.beginning)
    file = stack.folder / STATE / FILE
    return f"A state is saved in {file.parent.relative_to(PROJECT)}; only KEEP=1 uses it." if file.exists() else ""


def beginning_with(beginning: Beginning) -> str:
    """Says what a user should know of it."""
    lines = list(beginning.notes)
    if manifest := beginning.restored:
        waiting = f"{schedules(manifest.waiting)} waiting"
        lines.append(f"It begins with the state of {clock(manifest.saved_at)}: {waiting}. What is overdue fires now.")
    return "\n".join(lines)


def interrupted(keep: Choice | None) -> str:
    """Says that a run was interrupted and had nothing to save."""
    if keep:
        return "Stopped before anything had begun. Nothing is lost: what was saved before is as it was."
    return "Stopped. Nothing was saved."


def ended(saved: Saved, folder: str) -> str:
    """Says what a stop has saved, and what it did not wait for."""
    lines = [f"Stopped after {saved.seconds:.1f} s. Saved in {folder}: {schedules(saved.manifest.waiting)} waiting."]
    if saved.left:
        left = ", ".join(f"{name} ({count})" for name, count in saved.left.items())
        lines += [f"Not waited for: {left}. {REPEATED}"]
    lines.append(f"Start it again with `{command('1', saved.manifest.port)}`.")
    return "\n".join(lines)
