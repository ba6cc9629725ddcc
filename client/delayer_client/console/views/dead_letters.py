"""Dead letters: grouped by reason; look, redrive, discard. Carried out by the operator function of the stack."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from delayer_client.console.guards.sessions import Message
from delayer_client.console.listing.whole_stack import stack_of
from delayer_client.console.place import PREFIX, Place
from delayer_client.console.rendering import page, place_in, say
from delayer_client.console.views.forms import fields_of
from delayer_client.console.words.numbers import counted

if TYPE_CHECKING:
    from delayer_client.operator import BulkResult, DeadLetters

Value = TypeVar("Value")
HERE: Final = f"{PREFIX}/dead-letters"
AT_MOST: Final = 1_000  # that are grouped
LONGEST: Final = 20.0  # seconds that one click may take; then it says how far it came
KINDS: Final = {"": "all", "failed/": "failed", "dead-lettered/": "dead letters"}
DONE: Final = {"redrive": "redriven", "discard": "discarded"}
WHO: Final = "console"  # is written down with what is done


async def _asked(place: Place, ask: "Callable[[DeadLetters], Value]") -> "Value | str":
    """What the function answers, or why it was not asked, as a sentence."""

    def call() -> Value:
        return ask(stack_of(place).dead_letters)

    try:
        return await asyncio.to_thread(call)
    except Exception as error:  # noqa: BLE001 - boto3 raises many; each of them says what is missing
        return str(error) or type(error).__name__


async def show(request: Request) -> Response:
    """Why they are there, the most frequent reason first."""
    kind = request.query_params.get("kind", "")
    prefix = kind if kind in KINDS else ""

    def listed(letters: "DeadLetters") -> dict[str, Any]:
        from delayer_client.operator import grouped

        found = list(islice(letters.list(prefix), AT_MOST + 1))
        shown = found[:AT_MOST]
        by_key = {letter.key: letter for letter in shown}
        return {"groups": grouped(shown), "by_key": by_key, "number": len(shown), "is_cut": len(found) > AT_MOST}

    answer = await _asked(place_in(request), listed)
    context = {"problem": answer, "answer": None} if isinstance(answer, str) else {"problem": "", "answer": answer}
    return page(request, "dead_letters.html", {**context, "kinds": KINDS, "kind": prefix}, here="dead-letters")


async def look(request: Request) -> Response:
    """One of them, as it is stored; its secrets are masked."""
    key = request.query_params.get("key", "")
    answer = await _asked(place_in(request), lambda letters: letters.show(key))
    context = {"problem": answer, "letter": None} if isinstance(answer, str) else {"problem": "", "letter": answer}
    return page(request, "dead_letter.html", {**context, "key": key}, here="dead-letters")


async def one(request: Request) -> Response:
    """Redrives or discards one."""
    command = _command(request)
    key = (await fields_of(request)).get("key", "")

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
    """What many would come to, before anything is done."""
    command = _command(request)
    where = _where(await fields_of(request))
    answer: Any = await _asked(place_in(request), lambda letters: letters.count(command, _of(where)))
    problem, counts = (answer, None) if isinstance(answer, str) else ("", answer)
    context = {"command": command, "done": DONE[command], "where": where, "problem": problem, "counted": counts}
    return page(request, "dead_letters_count.html", context, here="dead-letters")


async def many(request: Request) -> Response:
    """Does it, as long as a click may take."""
    command = _command(request)
    form = await fields_of(request)
    where = _where(form)
    answer: Any = await _asked(place_in(request), lambda letters: _run(letters, command, where, form.get("after", "")))
    if not isinstance(answer, str) and not answer.is_complete:
        context = {"command": command, "done": DONE[command], "where": where, "so_far": answer}
        return page(request, "dead_letters_more.html", context, here="dead-letters")
    say(request, _of_many(command, answer))
    return RedirectResponse(HERE, 303)


def _run(letters: "DeadLetters", command: Any, where: Mapping[str, str], after: str) -> "BulkResult":
    began = monotonic()
    bulk = letters.many(command, _of(where), by=WHO, after=after)
    for _ in bulk.steps():
        if monotonic() - began > LONGEST:
            break
    return bulk.result


def _of_many(command: str, answer: "BulkResult | str") -> Message:
    if isinstance(answer, str):
        return Message(kind="bad", text=f"Not all were {DONE[command]}. {answer}")
    left = f" {counted(sum(answer.refused.values()), 'schedule')} stayed as they were." if answer.refused else ""
    return Message(kind="good", text=f"{counted(answer.done, 'schedule')} {DONE[command]}.{left}")


def _where(form: Mapping[str, str]) -> dict[str, str]:
    return {name: form.get(name, "") for name in ("prefix", "reason", "owner", "group", "action", "since", "until")}


def _of(where: Mapping[str, str]) -> Any:
    from delayer_client.operator import Where

    return Where(**where, everything=not any(where.values()))  # the page has counted them, and said how many


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
