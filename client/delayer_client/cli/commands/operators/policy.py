"""`delayer policy`: what owners may do."""

import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from attrs import frozen
from typer.core import TyperCommand

from delayer_client.cli.exits import Exit
from delayer_client.cli.options import CONTEXT, command, functions_group
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.values import in_file, object_of
from delayer_client.cli.refusals import Failed
from delayer_client.cli.shared import OF_FUNCTIONS, By, Yes
from delayer_client.cli.showing.table import folding, table

if TYPE_CHECKING:
    from delayer_client.cli.session import Session

Owner = Annotated[
    str, typer.Argument(metavar="OWNER", help="Whose; without it the default for all others.", show_default=False)
]
Of = Annotated[str, typer.Option("--of", "--owner", metavar="OWNER", help="Whose, in place of OWNER.")]
Revision = Annotated[
    int | None,
    typer.Option(
        "--revision",
        metavar="N",
        help="That `show` has shown, 0 if there was none: if it is another one by now, nothing is changed. Then nobody "
        "is asked.",
        show_default=False,
    ),
]


LISTED: Final = {"owner": "OWNER", "revision": "REVISION", "changedAt": "CHANGED", "by": "BY", "policy": "POLICY"}


@frozen(kw_only=True)
class Whose:
    """An owner, in either spelling; empty for the default."""

    owner: Owner = ""
    of: Of = ""

    @property
    def name(self) -> str:
        """Raises NotRead for two."""
        if self.owner and self.of and self.owner != self.of:
            raise NotRead(f"Two owners are named, {self.owner} and {self.of}.")
        return self.owner or self.of


@frozen(kw_only=True)
class Document:
    """A policy, in any spelling."""

    policy: Annotated[str | None, typer.Option("--policy", metavar="JSON", help="The policy: JSON, @file, or -.")] = (
        None
    )
    file: Annotated[str | None, typer.Option("--file", metavar="FILE", help="The policy: a file, or -.")] = None
    behind_json: Annotated[str | None, typer.Option("--json-document", hidden=True)] = None  # see TakesDocument

    def read(self) -> dict[str, Any] | None:
        """None if none was given. Raises NotRead."""
        texts = {"--policy": self.policy, "--file": self.file and in_file(self.file), "--json": self.behind_json}
        given = [(flag, text) for flag, text in texts.items() if text is not None]
        if len(given) > 1:
            raise NotRead(f"Give the policy once: {' or '.join(flag for flag, _ in given)}, not both. {AS_FLAG}")
        try:
            return object_of(given[0][1], given[0][0]) if given else None
        except NotRead as error:
            raise NotRead(f"{error}{self.hint}") from error

    @property
    def hint(self) -> str:
        """Of a word that may be no policy; empty without one."""
        return f" {AS_FLAG}" if self.behind_json is not None else ""


AS_FLAG: Final = "A word behind --json is a policy; for answers in JSON, --json stands last, or before another flag."


class TakesDocument(TyperCommand):
    """A text behind `--json` is a policy, as it was in `make owner-policy`; alone, `--json` is the flag of all.

    A word is never taken for both, or for an owner: what was meant as a policy would be set for somebody.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As click's."""
        read = [
            "--json-document" if word == "--json" and (after == "-" or not after.startswith("-")) else word
            for word, after in zip_longest(args, args[1:], fillvalue="--")
        ]
        return super().parse_args(ctx, [re.sub("^--json=", "--json-document=", one) for one in read])


@frozen(kw_only=True)
class Change:
    """Over which revision something is changed, whether somebody is asked, and who gives the command."""

    revision: Revision = None
    yes: Yes = False
    by: By

    def over(self, session: "Session", owner: str, what: str) -> int:
        """The revision that was given, or that which is there, if somebody agrees."""
        if self.revision is not None:
            return self.revision
        before = session.operators.owner_policies.get(owner)
        if before.get("policy") is not None or not owner or what == "Remove":
            whose = f"of {owner}" if owner else "for all who have none of their own"
            session.agreed(f"{what} the policy {whose} (revision {before.get('revision', 0)})?", self.yes)
        return int(before.get("revision", 0))


def _json(session: "Session", found: Any) -> None:
    session.output.one(found, json.dumps(found, indent=2, ensure_ascii=False))


policy = functions_group(
    "policy",
    "Owner policies: what owners may do.",
    "operator-owner-policy",
    [CONTEXT.replace(name="revision", annotation=Revision, default=None)],
)


@command(policy, "list", "delayer policy list", takes=OF_FUNCTIONS)
def list_(session: "Session") -> None:
    """List the default, and the owners that have a policy of their own."""
    found = [one for one in session.operators.owner_policies.all() if one["owner"] or one.get("policy") is not None]
    if session.as_json:
        # The default is no owner with an empty name: in a loop over the list, `policy remove` would take it away.
        session.output.objects({**one, "owner": one["owner"] or None} for one in found)
        return
    if found:
        cells = {name: [str(one.get(name, "")) for one in found] for name in ("revision", "changedAt", "by")}
        cells["owner"] = [one["owner"] or "(default)" for one in found]
        cells["policy"] = [json.dumps(one.get("policy"), ensure_ascii=False) for one in found]
        session.output.show(table(session.console, [folding(title, cells[name]) for name, title in LISTED.items()]))
    if not any(one["owner"] for one in found):
        session.output.note("None has one of its own: the default counts for all.")


@command(policy, "show", "delayer policy show team-blue", takes=OF_FUNCTIONS)
def show(session: "Session", whose: Whose) -> None:
    """Show a policy with its revision, and what counts together with the default."""
    _json(session, session.operators.owner_policies.get(whose.name))


@command(policy, "set", "delayer policy set team-blue --policy @blue.json", takes=OF_FUNCTIONS, cls=TakesDocument)
def set_(session: "Session", whose: Whose, document: Document, change: Change) -> None:
    """Set a policy in the place of what is there. It counts after ten seconds.

    A policy is a JSON object. Each rule may be left out: then the default counts, and without one nothing but the
    settings of the stack. null takes a rule of the default away. The rules: actions, a list of types; hosts, a list
    such as "*.example.com" or "api.example.com:8443"; queues, topics, functions, stateMachines and eventBuses, lists of
    names or ARNs, with * for any characters of one part; createsPerMinute, liveSchedules and series, how many;
    payloadBytes, of one schedule; aheadSeconds, how far ahead a time may be.
    """
    owner, new = whose.name, document.read()
    if new is None:
        raise NotRead("Give the policy: --policy '{…}', --policy @file, or --file FILE.")
    over = change.over(session, owner, "Replace")
    _json(session, session.operators.owner_policies.set(new, owner, revision=over, by=change.by))


@command(policy, "remove", "delayer policy remove team-blue --yes", takes=OF_FUNCTIONS)
def remove(session: "Session", whose: Whose, change: Change) -> None:
    """Remove a policy. From then on the default counts."""
    over = change.over(session, whose.name, "Remove")
    _json(session, session.operators.owner_policies.remove(whose.name, revision=over, by=change.by))


@command(
    policy,
    "try",
    "delayer policy try team-blue --schedule @schedule.json",
    "delayer policy try --of team-blue schedule.json --policy @blue.json",
    takes=OF_FUNCTIONS,
    cls=TakesDocument,
)
def try_(
    session: "Session",
    document: Document,
    owner: Annotated[
        str,
        typer.Argument(metavar="OWNER", help="Whose; without --schedule the file with it, or -.", show_default=False),
    ] = "",
    of: Of = "",
    schedule: Annotated[
        str, typer.Option("--schedule", metavar="JSON", help="The body of a POST: JSON, @file, or -.")
    ] = "",
) -> None:
    """Try whether a schedule would be allowed, and by which rule it is not; by what counts now, or by another policy.

    The exit status is 0 only if it is allowed.
    """
    if not (owner or schedule):
        raise NotRead(f"Give the body of a POST: --schedule '{{…}}', --schedule @file, or a file.{document.hint}")
    whose, written = (Whose(owner=owner, of=of).name, schedule) if schedule else (of, in_file(owner))
    body = object_of(written, "--schedule")
    found = session.operators.owner_policies.try_out(body, whose, policy=document.read())
    _json(session, found)
    if not found.get("allowed"):
        raise Failed(f"Not allowed{': ' + str(found['rule']) if found.get('rule') else ''}.", Exit.NO)


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(policy, rich_help_panel="For operators")
