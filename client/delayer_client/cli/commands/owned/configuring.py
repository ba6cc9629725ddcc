"""`delayer configure`: profiles."""

from typing import TYPE_CHECKING, Annotated

import typer
from attrs import evolve

from delayer_client.cli.options import command
from delayer_client.cli.profiles import DEFAULT_PROFILE, DEFAULT_URL, check
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.shared import OF_BOTH
from delayer_client.cli.showing.table import details

if TYPE_CHECKING:
    from delayer_client.cli.profiles import Settings
    from delayer_client.cli.session import Session


def shown(settings: "Settings") -> dict[str, str]:
    """Without its token."""
    return {name: "***" if name == "token" else value for name, value in settings.said().items()}


def _show(session: "Session", remove: bool) -> None:
    if remove or session.profile:
        raise NotRead("--show shows all profiles: leave out --remove and --profile.")
    found = {name: shown(one) for name, one in session.profiles.all().items()}
    if session.as_json:
        session.output.objects({"profile": name, **one} for name, one in found.items())
        return
    rows = [(name, "\n".join(f"{key} = {value}" for key, value in one.items())) for name, one in found.items()]
    session.output.show(details([("File", str(session.profiles.path)), *rows]))


def _asked(session: "Session", before: "Settings") -> "Settings":
    """Asks for what is not given. Raises NotRead if nobody can be asked."""
    if not session.surroundings.is_terminal():
        raise NotRead("Say what the profile holds: --url, --token @file, --owner, --zone.")
    url = typer.prompt("The URL of the API", default=before.url or DEFAULT_URL, err=True)
    before = before.kept_for(url)
    token = typer.prompt(
        "A token, if the stack asks for one", default=before.token, hide_input=True, show_default=False, err=True
    )
    return evolve(before, url=url, token=token)


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app,
        "configure",
        "delayer configure --profile work --url https://abc.execute-api.eu-west-1.amazonaws.com --zone Europe/Lisbon",
        "delayer configure --profile work --token @token.txt",
        "delayer configure --show",
        panel="Yours",
        takes=OF_BOTH,
    )
    def configure(
        session: "Session",
        show: Annotated[bool, typer.Option("--show", help="Show all profiles, without tokens.")] = False,
        remove: Annotated[bool, typer.Option("--remove", help="Take the profile away.")] = False,
    ) -> None:
        """Write a profile: where a stack is, and who calls.

        A token in it is stored in a file that nobody but you can read. A flag counts before the environment, and that
        before the profile. The profile `default` counts if none is named.
        """
        name = session.profile or DEFAULT_PROFILE
        if (show or remove) and session.flags.said():
            raise NotRead("--show and --remove are about whole profiles: leave out what one holds.")
        if show:
            _show(session, remove)
            return
        if remove:
            session.profiles.remove(name)
            session.output.show(f"Removed: the profile {name}.")
            return
        before = session.profiles.all().get(name, session.flags)
        given = session.given
        check(given)
        if given.said():
            after = given.over(before.kept_for(given.url or before.url or DEFAULT_URL))
        else:
            after = _asked(session, before)
        check(after)
        if before.token and not after.token:
            session.output.note("The token that the profile had is taken away: it was for the URL before.")
        session.profiles.put(name, after)
        session.output.one({"profile": name, **shown(after)}, f"Written: the profile {name} in {session.profiles.path}")
        if after.token:
            session.output.note("The token is stored as it is; nobody but you can read the file.")
