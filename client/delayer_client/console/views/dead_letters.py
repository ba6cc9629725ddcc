"""Dead letters: grouped by reason; look, redrive, discard. Carried out by the operator function of the stack."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.console.forms.fields import fields_of
from delayer_client.console.guards.sessions import Message
from delayer_client.console.letters import run as runs
from delayer_client.console.letters.owners import owner_in, owners
from delayer_client.console.letters.run import DONE, WHO, Run
from delayer_client.console.listing.whole_stack import stack_of
from delayer_client.console.place import PREFIX, Place
from delayer_client.console.rendering import page, place_in, say, session_of
from delayer_client.console.words.numbers import counted

if TYPE_CHECKING:
    from delayer_client.operator import DeadLetters

Value = TypeVar("Value")
HERE: Final = f"{PREFIX}/dead-letters"
AT_MOST: Final = 1_000  # that are grouped
UNCOUNTED: Final = "Nothing was done: they have to be counted first, or it is done already."
KINDS: Final = {"": "all", "failed/": "failed", "dead-lettered/": "dead letters"}


async def _asked(place: Place, ask: "Callable[[DeadLetters], Value]") -> "Value | str":
    """Returns the answer of the function, or a sentence that says why it was not asked."""

    def call() -> Value:
        return ask(stack_of(place).dead_letters)

    try:
        return await asyncio.to_thread(call)
    except Exception as error:  # noqa: BLE001 - boto3 raises many; each of them says what is missing
        return str(error) or type(error).__name__


async def show(request: Request) -> Response:
    """The dead letters of all owners by their reason, the most frequent first; or all that one reason has."""
    kind, reason = request.query_params.get("kind", ""), request.query_params.get("reason")
    prefix = kind if kind in KINDS else ""

    def listed(letters: "DeadLetters") -> dict[str, Any]:
        from delayer_client.operator import grouped

        found = list(islice(letters.list(prefix), AT_MOST + 1))
        shown = found[:AT_MOST]
        by_key = {letter.key: letter for letter in shown}
        groups = [group for group in grouped(shown) if reason in (None, group.text)]
        if reason is not None:
            keys = tuple(letter.key for letter in shown if letter.reason == reason)
            groups = [replace(group, sample=keys) for group in groups]
        return {
            "groups": groups,
            "by_key": by_key,
            "owners": owners(letters, [key for group in groups for key in group.sample]),
            "number": sum(group.number for group in groups),
            "is_cut": len(found) > AT_MOST,
        }

    answer = await _asked(place_in(request), listed)
    context = {"problem": answer, "answer": None} if isinstance(answer, str) else {"problem": "", "answer": answer}
    return page(
        request, "dead_letters.html", {**context, "kinds": KINDS, "kind": prefix, "reason": reason}, here="dead-letters"
    )


async def look(request: Request) -> Response:
    """One dead letter, as it is stored; its secrets are masked."""
    key = request.query_params.get("key", "")
    answer = await _asked(place_in(request), lambda letters: letters.show(key))
    context: dict[str, Any] = (
        {"problem": answer, "letter": None} if isinstance(answer, str) else {"problem": "", "letter": answer}
    )
    owner = "" if isinstance(answer, str) else owner_in(answer)
    asked = next((command for command in DONE if command in request.query_params), "")
    context |= {"key": key, "letter_owner": owner, "asked": asked}
    return page(request, "dead_letter.html", context, here="dead-letters")


async def one(request: Request) -> Response:
    """Redrives or discards one dead letter, after a question: neither can be undone."""
    command, form = _command(request), await fields_of(request)
    key = form.get("key", "")
    if not form.get("sure"):
        return RedirectResponse(f"{HERE}/look?{command}&key={quote(key, safe='')}", 303)

    def does(letters: "DeadLetters") -> dict[str, Any]:
        return letters.redrive(key, by=WHO) if command == "redrive" else letters.discard(key, by=WHO)

    answer: Any = await _asked(place_in(request), does)
    say(request, _of_one(command, answer))
    return RedirectResponse(HERE, 303)


def _of_one(command: str, answer: Mapping[str, Any] | str) -> Message:
    if isinstance(answer, str):
        return Message(kind="bad", text=f"It was not {DONE[command]}. {answer}")
    outcomes = [found.get("outcome", "") for found in answer.get("schedules", [])]
    is_done = bool(outcomes) and all(outcome == DONE[command] for outcome in outcomes)
    said = ", ".join(outcomes) or str(answer)
    return Message(kind="good" if is_done else "plain", text=f"The operator function answers: {said}.")


async def count(request: Request) -> Response:
    """Counts what a redrive or a discard of many would come to. Only what was counted can be done."""
    command, form = _command(request), await fields_of(request)
    prefix, reason = form.get("prefix", ""), form.get("reason", "")
    answer: Any = await _asked(
        place_in(request), lambda letters: runs.count(letters, command, prefix if prefix in KINDS else "", reason)
    )
    context: dict[str, Any] = {"command": command, "done": DONE[command], "problem": "", "run": None, "counted": None}
    if isinstance(answer, str):
        context["problem"] = answer
    else:
        context["run"], context["counted"] = answer
        session_of(request).keep(answer[0].id, answer[0])
    return page(request, "dead_letters_count.html", context, here="dead-letters")


async def many(request: Request) -> Response:
    """Redrives or discards what was counted. After twenty seconds it says how far it came, and asks."""
    command = _command(request)
    run = session_of(request).kept.pop((await fields_of(request)).get("run", ""), None)
    if not isinstance(run, Run) or run.command != command:
        say(request, Message(kind="bad", text=UNCOUNTED))
        return RedirectResponse(HERE, 303)
    problem = await _asked(place_in(request), run.go_on) or ""
    if not run.is_complete and not problem:
        session_of(request).keep(run.id, run)
        return page(request, "dead_letters_more.html", {"done": DONE[command], "run": run}, here="dead-letters")
    say(request, _of_many(run, problem))
    return RedirectResponse(HERE, 303)


def _of_many(run: Run, problem: str) -> Message:
    left = sum(run.refused.values())
    text = f"{counted(run.done, 'schedule')} {DONE[run.command]}."
    text += f" {counted(left, 'schedule')} stayed as they were." if left else ""
    if problem:
        return Message(kind="bad", text=f"Not all were {DONE[run.command]}. {problem} {text}")
    return Message(kind="good", text=text)


def _command(request: Request) -> Any:
    command = request.path_params["command"]
    if command not in DONE:
        raise HTTPException(404)
    return command


ROUTES: Final = (
    Route(HERE, show),
    Route(f"{HERE}/look", look),
    Route(f"{HERE}/one/{{command}}", one, methods=["POST"]),
    Route(f"{HERE}/count/{{command}}", count, methods=["POST"]),
    Route(f"{HERE}/many/{{command}}", many, methods=["POST"]),
)
