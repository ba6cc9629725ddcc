"""Knows who is looking: a browser that has brought the one-time token, or any on this machine where none is
asked for.
"""

import secrets
from collections import OrderedDict
from hmac import compare_digest
from typing import Final, Literal

from attrs import define, field, frozen

AT_MOST: Final = 100  # sessions: whoever opens more than that loses the oldest

KEPT: Final = 20  # counts of a session


@frozen(kw_only=True)
class Message:
    """The result of something that the user did, shown once."""

    kind: Literal["good", "bad", "plain"]
    text: str


@define
class Session:
    """Of one browser, in memory only."""

    id: str = field(factory=lambda: secrets.token_urlsafe(32), repr=False)
    owner: str = ""
    messages: list[Message] = field(factory=list)
    kept: OrderedDict[str, object] = field(factory=OrderedDict, repr=False)  # what was counted, and may be done

    def keep(self, name: str, thing: object) -> None:
        """A few, the latest."""
        self.kept[name] = thing
        while len(self.kept) > KEPT:
            self.kept.popitem(last=False)

    def take_messages(self) -> list[Message]:
        """Returns the messages that were not shown yet, each once."""
        taken, self.messages = self.messages, []
        return taken


@define
class Sessions:
    """`token` is what begins the first one; without it, each browser that is let in gets one."""

    token: str | None = field(default=None, repr=False)
    owner: str = ""
    _live: OrderedDict[str, Session] = field(factory=OrderedDict)
    _asks: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._asks = self.token is not None

    @property
    def asks_for_a_token(self) -> bool:
        """Whether a browser needs one to begin."""
        return self._asks

    def begin(self) -> Session:
        """A new one."""
        session = Session(owner=self.owner)
        self._live[session.id] = session
        while len(self._live) > AT_MOST:
            self._live.popitem(last=False)
        return session

    def of(self, session_id: str) -> Session | None:
        """The one that a cookie names."""
        found = self._live.get(session_id)
        if found:
            self._live.move_to_end(session_id)
        return found

    def redeem(self, token: str) -> Session | None:
        """A session for the token, the first time."""
        if self.token is None or not compare_digest(token.encode(), self.token.encode()):
            return None
        self.token = None
        return self.begin()
