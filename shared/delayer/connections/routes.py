"""Answers of the calls about connections, and hints. No value is ever in one (ADR 0105)."""

import json
from typing import Final

import msgspec
from attrs import evolve

from delayer.actions.rules.model import Done, Result
from delayer.connections.admission import hints_for
from delayer.connections.model import Connection, Live
from delayer.http.answers import Response, Shown, problem, response
from delayer.masking.mask import masked_value
from delayer.schedule.instants import format_instant

SHOWN: Final = 10  # ids in an answer


def shown(row: Connection) -> Shown:
    """The body for anybody who may read connections: nothing of it is secret."""
    body: Shown = {"name": row.name, "type": row.type, **msgspec.json.decode(row.shown, type=dict[str, str])}
    body |= {"hosts": list(row.hosts)} if row.hosts else {}
    body |= {"createdAt": format_instant(row.created_at), "changedAt": format_instant(row.changed_at)}
    return body | ({"closing": True} if row.closing else {})


def put(row: Connection, *, is_new: bool) -> Response:
    """201, or 200 if it replaced one."""
    return response(201 if is_new else 200, shown(row), {"Location": f"/connections/{row.name}"} if is_new else None)


def one(row: Connection, live: Live) -> Response:
    """200, with what is known of its use."""
    return response(200, {**shown(row), "inUse": _in_use(live)})


def _in_use(live: Live) -> Shown:
    """Of the hundred schedules that are due last."""
    body: Shown = {"schedules": len(live.schedules), "series": len(live.series)}
    return body if live.is_complete else {**body, "more": True}


def page(rows: tuple[Connection, ...], cursor: str) -> Response:
    """200, with the cursor of the next page if there is one."""
    body: Shown = {"connections": [shown(row) for row in rows]}
    return response(200, {**body, "nextCursor": cursor} if cursor else body)


def deleted() -> Response:
    """204."""
    return Response(status=204)


def tested(result: Result, url: str) -> Response:
    """200, whatever the target said: the call was made, or was not."""
    body: Shown = {"succeeded": isinstance(result, Done), "detail": result.detail, "url": url}
    return response(200, body)


def not_tested(reason: str) -> Response:
    """503."""
    detail = f"No call was made: {reason}. Repeat it."
    return problem(503, "not-tested", "The connection could not be tried", detail, {"Retry-After": "5"})


def none() -> Response:
    """404."""
    return problem(404, "not-found", "No such connection", "There is no connection of this name.")


def too_many(most: int) -> Response:
    """409."""
    detail = f"An owner may have {most} connections. Delete one that is not in use."
    return problem(409, "too-many-connections", "There are too many connections", detail)


def in_use(live: Live) -> Response:
    """409, with some of what names it."""
    detail = "Live schedules or series name it. Cancel or change them; or delete it with ?force=true, and they fail."
    if not live.is_complete:
        detail = (
            "More schedules have named it during the last 30 days than one call can look at, so it is not known "
            "whether one is live. Delete it with ?force=true: what is live fails then."
        )
    elif live.held_until:
        detail = _held(live, detail)
    more = {"schedules": live.schedules[:SHOWN], "series": live.series[:SHOWN]}
    return problem(409, "in-use", "The connection is in use", detail, None, **more)


def _held(live: Live, detail: str) -> str:
    """There is nothing to cancel of a series that is over."""
    until = format_instant(max(live.held_until))
    held = f"Series that are over hold it until {until}, because an attempt of theirs may be made until then."
    if live.schedules or len(live.held_until) < len(live.series):
        return f"{detail} {held}"
    return f"{held} Repeat the call then; or delete it now with ?force=true, and such an attempt fails."


def hinted(made: Response, body: bytes) -> Response:
    """The answer to a call that has created or changed something, with what its client should know of its secrets."""
    hints = hints_for(body) if made.status < 300 else []
    if not hints:
        return made
    return evolve(made, body=f'{made.body[:-1]},"hints":{json.dumps(hints)}}}')


def url_shown(url: str) -> str:
    """Without what nobody but the target sees."""
    return str(masked_value("url", url))
