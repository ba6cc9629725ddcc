"""The registered action types: one control row, `actions`, with a text for each type."""

from collections.abc import Mapping
from typing import Final

import msgspec
from attrs import frozen

from delayer.actions.rules import model
from delayer.actions.rules.registration import Registration, Registrations
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Change, Is, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.schedule.instants import Malformed, UnknownVersion

KEY: Final = row_key("actions")
TRIES: Final = 100  # deployments write many types at a time, and of those who write, one is through each time


class _Stored(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A registration as it is stored."""

    action: msgspec.Raw  # as `model` encodes it
    stack: str
    token: str
    resource: str = ""
    queue: str = ""
    function: str = ""


_DECODER: Final = msgspec.json.Decoder(list[msgspec.Raw])


@frozen(kw_only=True)
class StoredActions:
    """Keeps all registrations in one control row."""

    store: Store
    table: str

    def actions(self) -> Mapping[str, Registrations]:
        read = {kind: _registrations(text) for kind, text in (self._texts() or {}).items()}
        return {kind: registrations for kind, registrations in read.items() if registrations}

    def write(self, kind: str, registrations: Registrations, over: Registrations) -> bool:
        """The condition is the texts that stand there: another version may have written the same in another way.

        They are those of all types. So it is tried again if another type was written meanwhile.
        """
        for _ in range(TRIES):
            texts = self._texts()
            if _registrations((texts or {}).get(kind, "")) != over:
                return False
            if self._put(kind, registrations, texts):
                return True
        raise Unavailable("others write the actions all the time")

    def _texts(self) -> Mapping[str, str] | None:
        """By type; None before the first was written."""
        item = self.store.get(self.table, KEY)
        return item.get("types") if item else None

    def _put(self, kind: str, registrations: Registrations, texts: Mapping[str, str] | None) -> bool:
        """Whether nobody else has written any since these were read."""
        new = {**(texts or {}), kind: _text(registrations)}
        if not registrations:
            del new[kind]
        as_read = lacks("types") if texts is None else Is("types", texts)
        try:
            self.store.write(Change(self.table, KEY, put={"types": new}, when=as_read))
        except WriteRefused:
            return False
        return True


def _text(registrations: Registrations) -> str:
    stored = [
        _Stored(
            action=msgspec.Raw(model.encode(one.action).encode()),
            stack=one.stack,
            token=one.token,
            resource=one.resource,
            queue=one.queue,
            function=one.function,
        )
        for one in registrations
    ]
    return msgspec.json.encode(stored).decode()


def _registrations(text: str) -> Registrations:
    """Leaves out the rows that this code cannot read: they are those of a newer Delayer, or of no Delayer at all."""
    read = []
    try:
        texts = _DECODER.decode(text) if text else []
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()
    for one in texts:
        try:
            stored = msgspec.json.decode(one, type=_Stored)
            action = model.decode(bytes(stored.action))
        except (Malformed, UnknownVersion, msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
        read.append(
            Registration(
                action=action,
                stack=stored.stack,
                token=stored.token,
                resource=stored.resource,
                queue=stored.queue,
                function=stored.function,
            )
        )
    return tuple(read)
