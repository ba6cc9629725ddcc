"""`delayer policy`: what owners may do."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.commands.operators.dead_letters import by
from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command, group
from delayer_client.cli.reading.values import object_of
from delayer_client.cli.refusals import Failed

if TYPE_CHECKING:
    from delayer_client.cli.session import Session

Owner = Annotated[
    str, typer.Argument(metavar="OWNER", help="Whose; without it the default for all others.", show_default=False)
]


def _json(session: "Session", found: Any) -> None:
    from rich.json import JSON

    session.output.one(found, *([] if session.as_json else [JSON(json.dumps(found)).text]))


policy = group("policy", "Owner policies: what owners may do. For operators.")


@command(policy, "list", "delayer policy list", for_operators=True)
def list_(session: "Session") -> None:
    """List the owners that have a policy of their own."""
    found = list(session.operators.owner_policies.list())
    if session.as_json:
        session.output.objects(found)
    elif found:
        for one in found:
            session.output.show(str(one.get("owner", one)))
    else:
        session.output.note("None has one: the default counts for all.")


@command(policy, "show", "delayer policy show team-blue", for_operators=True)
def show(session: "Session", owner: Owner = "") -> None:
    """Show a policy, and what counts together with the default."""
    _json(session, session.operators.owner_policies.get(owner))


@command(policy, "set", "delayer policy set team-blue --policy @blue.json", for_operators=True)
def set_(
    session: "Session",
    owner: Owner = "",
    text: Annotated[str, typer.Option("--policy", metavar="JSON", help="JSON, @file, or -.")] = ...,  # type: ignore[assignment]
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Set a policy in the place of what is there. It counts after ten seconds."""
    policies = session.operators.owner_policies
    new = object_of(text, "--policy")
    before = policies.get(owner)
    if before.get("policy") is not None or not owner:
        whose = f"of {owner}" if owner else "for all who have none of their own"
        session.agreed(f"Replace the policy {whose} (revision {before.get('revision', 0)})?", yes)
    _json(session, policies.set(new, owner, revision=before.get("revision", 0), by=by()))


@command(policy, "remove", "delayer policy remove team-blue --yes", for_operators=True)
def remove(
    session: "Session",
    owner: Owner = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove a policy. From then on the default counts."""
    policies = session.operators.owner_policies
    before = policies.get(owner)
    session.agreed(f"Remove the policy of {owner or 'all others'}?", yes)
    _json(session, policies.remove(owner, revision=before.get("revision", 0), by=by()))


@command(policy, "try", "delayer policy try team-blue --schedule @schedule.json", for_operators=True)
def try_(
    session: "Session",
    owner: Owner = "",
    schedule: Annotated[
        str, typer.Option("--schedule", metavar="JSON", help="The body of a POST: JSON, @file, or -.")
    ] = ...,  # type: ignore[assignment]
    text: Annotated[
        str | None, typer.Option("--policy", metavar="JSON", help="By this policy; otherwise by what counts now.")
    ] = None,
) -> None:
    """Try whether a schedule would be allowed. The exit status is 0 only if it is."""
    new = object_of(text, "--policy") if text else None
    found = session.operators.owner_policies.try_out(object_of(schedule, "--schedule"), owner, policy=new)
    _json(session, found)
    if not found.get("allowed"):
        raise Failed(f"Not allowed{': ' + str(found['rule']) if found.get('rule') else ''}.", Exit.NO)


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(policy, rich_help_panel="For operators")
