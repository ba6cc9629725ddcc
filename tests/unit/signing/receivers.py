"""A stack whose owner rotates, whose key rotates, and whose executors know old rows; and what receivers hold of it."""

import base64
import hmac
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from attrs import define, field

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Message
from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import Unavailable
from delayer.schedule.instants import MINUTE, Millis
from delayer.signing.keep_keys import KeepSigningKeys
from delayer.signing.repository import StoredSigningRows
from delayer.signing.rules import CURRENT_AFTER, USABLE, NotRotated, Rotation, SigningKeys, first_keys
from delayer.signing.sign import OwnSecrets, Sign
from tests.samples import NOW, an_id
from tests.tables import on_sqlite

OWNER = "urn:owner:one"
TICK: Millis = 75_000  # eight of them are the shortest time between two rotations, four are the age of an old row


def a_message(owner: str = OWNER, payload: str = '{"a": 1}') -> Message[None]:
    return Message(action=None, payload=payload, schedule_id=an_id(), owner=owner, point_in_time=NOW, attempt=1)


MESSAGE, OF_ANOTHER = a_message(), a_message("urn:owner:two")


def is_signed_by(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """As a receiver finds out, written down once more."""
    right = right_signature(secret, headers["Webhook-Id"], headers["Webhook-Timestamp"], body)
    return right in headers["Webhook-Signature"].split(" ")


@lru_cache(maxsize=1_000)  # many executors sign the same message in the same second
def right_signature(secret: str, message: str, timestamp: str, body: bytes) -> str:
    """As the standard has it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = b".".join([message.encode(), timestamp.encode(), body])
    return "v1," + base64.b64encode(hmac.new(key, content, "sha256").digest()).decode()


@define
class Rows:
    """The rows as one executor reaches them: one of the two kinds, or both, may be out of reach."""

    rows: StoredSigningRows
    keys_are_down: bool = False
    rotations_are_down: bool = False

    def signing_keys(self) -> SigningKeys:
        if self.keys_are_down:
            raise Unavailable("down")
        return self.rows.signing_keys()

    def rotation(self, owner: str) -> Rotation:
        if self.rotations_are_down:
            raise Unavailable("down")
        return self.rows.rotation(owner)


@define
class Executor:
    """An execution environment that knows what it once read."""

    sign: Sign
    rows: Rows


@define
class Held:
    """A secret that was shown as the current one."""

    until: Millis | None = None  # what was said of its end since then


@define(kw_only=True)
class Scene:
    """One stack. Each `tick` lets all executors sign, and all receivers verify."""

    clock: ManualClock = field(factory=lambda: ManualClock(NOW))
    rows: StoredSigningRows = field(factory=partial(on_sqlite, StoredSigningRows))
    held: dict[str, Held] = field(factory=dict)
    executors: list[tuple[Millis, Executor]] = field(factory=list)
    changes: list[tuple[Millis, Millis]] = field(
        factory=list
    )  # when another key becomes current, until when the old signs
    attempts: int = 0
    random: int = 0

    def __attrs_post_init__(self) -> None:
        self.rows.write_signing_keys(first_keys(bytes(32), NOW), SigningKeys())

    def own(self, rows: Any = None) -> OwnSecrets:
        return OwnSecrets(clock=self.clock, signing_rows=rows or self.rows, observer=MemoryObserver())

    def keep(self) -> KeepSigningKeys:
        return KeepSigningKeys(
            clock=self.clock, signing_rows=self.rows, randomness=self.some_bytes, observer=MemoryObserver()
        )

    def some_bytes(self, number: int) -> bytes:
        self.random += 1
        return self.random.to_bytes(number, "big")

    # ------------------------------------------------------------ what happens

    def show(self) -> None:
        """A receiver fetches the current secret, and holds no other from now on."""
        shown = self.own().show(OWNER)
        self._hold(shown.current)
        if held := self.held.get(shown.previous or ""):  # the owner may have rotated before anybody looked at it
            assert held.until == shown.previous_until, "it signs as long as is said"

    def rotate(self, overlap: Millis, use: Callable[[], Any] | None = None) -> bool:
        """Whether the owner's rotation was done. A refused one changes nothing, and may be done later."""
        now, before = self.clock.now(), self.rows.rotation(OWNER)
        again_at = now
        try:
            shown = use() if use else self.own().rotate(OWNER, overlap)
        except NotRotated as error:
            again_at = error.again_at
        if again_at != now:
            assert again_at > now
            assert use or self.rows.rotation(OWNER) == before
            return False
        self.ends(now + overlap)
        self._hold(shown.current)
        return True

    def ends(self, at: Millis) -> None:
        """All that was shown ends then, or as was said before if that is sooner."""
        for one in self.held.values():
            one.until = at if one.until is None else min(one.until, at)

    def rotate_key(self, overlap: Millis) -> bool:
        """Whether the operator's was done."""
        try:
            self.keep().rotate(overlap // 1000)
        except NotRotated:
            return False
        current_from = self.clock.now() + CURRENT_AFTER
        self.changes.append((current_from, current_from + overlap))
        self.ends(current_from + overlap)
        return True

    def _hold(self, secret: str) -> None:
        ends = [until for current_from, until in self.changes if current_from > self.clock.now()]
        held = self.held.setdefault(secret, Held(until=min(ends, default=None)))
        assert held.until is None or held.until > self.clock.now(), "what is shown as current signs"

    # ------------------------------------------------------------ what is true all the time

    def tick(self) -> None:
        """The current secret is fetched; each executor signs; each receiver verifies with the one that it has."""
        self.show()
        self._start()
        now = self.clock.now()
        self.executors = [one for one in self.executors if now - one[0] <= USABLE + MINUTE]
        for read_at, executor in self.executors:
            self._attempt(executor, may_fail=now - read_at >= USABLE)
        self.clock.move(TICK)

    def _start(self) -> None:
        """One that reads both now and nothing later; one that goes on with these keys, one with this row alone."""
        fresh = self.executor()
        self._attempt(fresh, may_fail=False)
        mixed = [self.executor() for _ in range(2)]
        mixed[0].sign(OF_ANOTHER)  # it has read the keys, and not this owner's row
        mixed[1].sign(MESSAGE)
        fresh.rows.keys_are_down = fresh.rows.rotations_are_down = True
        mixed[0].rows.keys_are_down = mixed[1].rows.rotations_are_down = True
        self.executors += [(self.clock.now(), one) for one in (fresh, *mixed)]

    def executor(self) -> Executor:
        """One that has read nothing yet."""
        rows = Rows(self.rows)
        return Executor(Sign(clock=self.clock, signing_rows=rows), rows)  # type: ignore[arg-type] # it has what is called

    def _attempt(self, executor: Executor, *, may_fail: bool) -> None:
        try:
            headers = executor.sign(MESSAGE)
        except NotAttempted:
            assert may_fail
            return
        now = self.clock.now()
        self.attempts += 1
        for secret, held in self.held.items():
            signs = is_signed_by(secret, headers, MESSAGE.payload.encode())
            assert signs == (held.until is None or now < held.until), (now - NOW, held.until)
