"""Lifecycle events for who reads them from this machine: `GET /events?after=`, and POSTs to one receiver (ADR 0188).

Both read the change feed as it is on the disk, in the order of its numbers, from threads of their own: no turn waits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec
from attrs import define, evolve, field, frozen

from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.engines.sqlite.feed import FORGOTTEN, FedChange, SqliteFeed
from delayer.engines.sqlite.queue import pause_after
from delayer.history import cloud_events
from delayer.http.answers import Response, no_such_method, respond, response
from delayer.http.problem import FieldError, Invalid, Problem
from delayer.http.requests import ApiRequest, Authorization, MissingScope, authorization_from, scopes_in
from delayer.http.routing import Routed, route_of
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.serve.beside.beside import Beside
from delayer.serve.refusal import Refusal
from delayer.serve.turns.reactions import FEEDS, lifecycle_record
from delayer.signing import routes as signing
from delayer.signing.ports import SigningRows
from delayer.signing.rules import signed_headers, signing_secrets
from delayer.signing.sign import OwnSecrets
from delayer.targets.http_request import HttpTarget, NoReply, Request, TargetForbidden, target_of

FUNCTION: Final = "engine-events"  # answers these paths; no function of a stack has this name
EVENTS: Final = "/events"
SECRET: Final = "/events/signing-secret"  # noqa: S105 - a path
OPERATOR: Final = "operator"  # the scope of a token that may see the secret of the receiver
MOST: Final = 1_000  # events in an answer
USUAL: Final = 100
LOOKED_AT: Final = 5_000  # changes for one answer: those of other owners are among them
PAGE: Final = 500
READER: Final = "events"  # whose place in the feed is that of the receiver
IN_A_POST: Final = 100
BYTES_IN_A_POST: Final = 1_000_000  # one event is sent whatever its size
SECONDS: Final = 10.0  # that the receiver may take to answer
BATCH: Final = "application/cloudevents-batch+json; charset=utf-8"


def route(method: str, raw_path: str) -> Routed:
    """As `route_of`, with the paths that this engine alone has."""
    if raw_path in (EVENTS, SECRET):
        return Routed(function=FUNCTION, route=f"{method} {raw_path}", parameters={})
    return route_of(method, raw_path)


class EventsForgotten(Problem):
    """Events behind the given number are not kept any more."""

    status = 410
    kind = "events-forgotten"
    title = "These events are not kept any more"

    def __init__(self, after: int, forgotten: int) -> None:
        self.forgotten = forgotten
        detail = f"Events up to {forgotten} are not kept any more, so some behind {after} are missing."
        super().__init__(f"{detail} Go on with after={forgotten}: all events behind that are there.")

    @property
    def members(self) -> Mapping[str, object]:
        """Where a reader may go on."""
        return {"next": self.forgotten}


@frozen(kw_only=True)
class PublishedEvent:
    """An event as it is published."""

    number: int  # of its change
    owner: str
    text: str  # CloudEvents 1.0


def published_in(changes: Sequence[FedChange], source: str, owner: str = "") -> Iterator[PublishedEvent]:
    """The events of these changes, or those of one owner. Changes that are no event, or cannot be read, have none."""
    for one in changes:
        try:
            record = lifecycle_record(one, FEEDS, None)
            event = record.event if record else None
            if event and event.owner != SYSTEM_OWNER and owner in ("", event.owner):
                yield PublishedEvent(number=one.number, owner=event.owner, text=cloud_events.encode(event, source))
        except Exception:  # noqa: BLE001, S112 - the step that announces it has set it aside, and has warned
            continue


@frozen(kw_only=True)
class ReadEvents:
    """`GET /events` and `GET /events/signing-secret`, in any thread."""

    feed: SqliteFeed
    observer: Observer
    source: str
    authorization: str  # the setting of the functions
    secrets: OwnSecrets

    def __call__(self, request: ApiRequest) -> Response:
        """One call."""
        method, _, path = request.route.partition(" ")
        if method != "GET":
            return no_such_method(["GET"])
        answer = self._events if path == EVENTS else self._secret
        return respond(self.observer, lambda: answer(request, authorization_from(self.authorization)))

    def _events(self, request: ApiRequest, known: Authorization) -> Response:
        evolve(known, write_scope=known.read_scope).check(request)  # no route of the contract, and it only reads
        owner = known.owner_of(request)
        forgotten = self.feed.forgotten()
        limit = _number(request, "limit", USUAL, 1, MOST)
        after = _number(request, "after", forgotten, 0, 10**18)
        if after < forgotten:
            raise EventsForgotten(after, forgotten)
        events: list[PublishedEvent] = []
        looked_at = 0
        while looked_at < LOOKED_AT and len(events) < limit:
            changes = self.feed.stored_after(after, PAGE)
            if not changes:
                break
            found = list(islice(published_in(changes, self.source, owner), limit - len(events)))
            events += found
            looked_at += len(changes)
            after = found[-1].number if len(events) == limit else changes[-1].number
        return response(200, {"events": [msgspec.Raw(one.text.encode()) for one in events], "next": after})

    def _secret(self, request: ApiRequest, known: Authorization) -> Response:
        """Of the receiver of all events: its operator alone may see it."""
        known.check(request)
        if known.kind != "NONE" and OPERATOR not in scopes_in(request.caller.claims):
            raise MissingScope(OPERATOR, "see the secret by which all events are signed")
        return signing.secrets(self.secrets.show(SYSTEM_OWNER))


def _number(request: ApiRequest, name: str, usual: int, least: int, most: int) -> int:
    text = request.query.get(name)
    if text is None:
        return usual
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        allowed = f"a whole number from {least} to {most}" if name == "limit" else "`next` of an earlier answer"
        raise Invalid([FieldError(field=name, problem="not allowed", allowed=allowed)])
    return int(text)


# ------------------------------------------------------------ the receiver of all events


@frozen(kw_only=True)
class Receiver:
    """Named by whoever runs the engine, so it may be on any network."""

    url: str
    seconds: float = SECONDS
    ask: Callable[[Request, bytes, int], tuple[int, bytes]] = field(factory=lambda: HttpTarget(allow_private=True).ask)


def receiver_of(url: str) -> Receiver:
    """The receiver of `--events URL`. Raises Refusal if it is no URL."""
    try:
        target_of(Request(url=url, method="POST", headers={}, timeout=SECONDS))
    except TargetForbidden as error:
        raise Refusal(
            what=f"--events {url} is {error}", do="Give the http or https URL that events are posted to"
        ) from None
    return Receiver(url=url)


@frozen(kw_only=True)
class Posted:
    """The outcome of one look at the feed."""

    upto: int  # all events up to there were taken
    is_more: bool  # there were changes that it has not looked at
    gap: int = 0  # so far the feed has forgotten what was not posted; 0: nothing
    why: str = ""  # nothing was taken; empty: all was


@frozen(kw_only=True)
class Poster:
    """Posts the events behind a number, as one signed batch. In a thread."""

    clock: Clock
    feed: SqliteFeed
    source: str
    receiver: Receiver
    signing_rows: SigningRows

    def __call__(self, cursor: int) -> Posted:
        """At most one POST."""
        forgotten = self.feed.forgotten()
        start = max(cursor, forgotten)
        changes = self.feed.stored_after(start, PAGE)
        batch = _fitting(published_in(changes, self.source))
        is_more = len(batch) == IN_A_POST or len(changes) == PAGE or sum(map(_size, batch)) >= BYTES_IN_A_POST
        upto = batch[-1].number if batch and is_more else changes[-1].number if changes else start
        why = self._post(batch) if batch else ""
        gap = forgotten if cursor < forgotten else 0
        return Posted(upto=cursor if why else upto, is_more=is_more, gap=gap, why=why)

    def _post(self, batch: Sequence[PublishedEvent]) -> str:
        """Why it was not taken; empty if it was. The same events have the same id each time."""
        body = b"[" + b",".join(one.text.encode() for one in batch) + b"]"
        try:
            secrets = self._secrets()
            message_id = f"events-{batch[0].number}-{batch[-1].number}"
            headers = {"Content-Type": BATCH, **signed_headers(secrets, message_id, self.clock.now(), body)}
            request = Request(url=self.receiver.url, method="POST", headers=headers, timeout=self.receiver.seconds)
            status, _ = self.receiver.ask(request, body, 1)
        except (NoReply, Unavailable) as error:
            return str(error)
        return "" if 200 <= status < 300 else f"HTTP {status}"

    def _secrets(self) -> Sequence[bytes]:
        """Those of Delayer itself: no owner has them."""
        keys, rotation = self.signing_rows.signing_keys(), self.signing_rows.rotation(SYSTEM_OWNER)
        found = signing_secrets(keys, rotation, SYSTEM_OWNER, self.clock.now())
        if not found:
            raise Unavailable("there is no signing key yet")
        return found


def _fitting(events: Iterator[PublishedEvent]) -> list[PublishedEvent]:
    batch: list[PublishedEvent] = []
    size = 0
    for one in islice(events, IN_A_POST):
        if batch and size + _size(one) > BYTES_IN_A_POST:
            break
        batch.append(one)
        size += _size(one)
    return batch


def _size(one: PublishedEvent) -> int:
    return len(one.text.encode())


@define(kw_only=True, eq=False)
class PostsEvents(Beside):
    """One POST after the other, so that events come in order. One that fails is repeated, later each time."""

    poster: Poster
    observer: Observer
    _is_under_way: bool = field(default=False, init=False)
    _tries: int = field(default=0, init=False)  # that have failed, one after the other
    _wait_until: Millis = field(default=0, init=False)
    _looked: int = field(default=0, init=False)  # up to there nothing is left to be posted

    def __attrs_post_init__(self) -> None:
        """A receiver that is new gets what happens from now on."""
        if not self.feed.cursor(READER):
            self.feed.move(READER, max(self.feed.last, self.feed.cursor(FORGOTTEN), 1))

    @property
    def feed(self) -> SqliteFeed:
        """That it reads."""
        return self.poster.feed

    def begin(self) -> bool:
        if self._is_under_way or not self._is_left() or self.clock.now() < self._wait_until:
            return False
        cursor, last = self.feed.cursor(READER), self.feed.last
        self.start(lambda: self.poster(cursor))
        self._looked, self._is_under_way = last, True
        return True

    def settle(self, number: int, outcome: object) -> None:  # noqa: ARG002 - there is one at a time
        self._is_under_way = False
        if not isinstance(outcome, Posted):
            return self._put_off(type(outcome).__name__)
        if outcome.gap:
            self.observer.warn("events were not posted before they were forgotten", upto=outcome.gap)
        if outcome.why:
            return self._put_off(outcome.why)
        self._tries = self._wait_until = 0
        if outcome.is_more:
            self._looked = 0
        return self.write(lambda: self.feed.move(READER, max(outcome.upto, self.feed.cursor(READER))))

    def _put_off(self, why: str) -> None:
        self._wait_until, self._looked = self.clock.now() + pause_after(self._tries), 0
        self._tries += 1
        self.observer.warn("events cannot be posted", why=why, tries=self._tries)

    def _is_left(self) -> bool:
        return self.feed.last > max(self._looked, self.feed.cursor(READER))

    def next_at(self) -> Millis | None:
        return None if self._is_under_way or not self._is_left() else max(self._wait_until, self.clock.now())
