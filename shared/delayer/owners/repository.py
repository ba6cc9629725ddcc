"""The owner policies: the control rows `owner-policy`, the default, and `owner-policy#<owner>`.

The owners that have one stand in the sets `owner-policies#<0 to f>`, so that they are listed without a Scan.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.engines.store.mapped import NUMBER, TEXT, Form, Mapped, always
from delayer.engines.store.model import Change, Condition, Is, Some, StoredItem, entry_key, lacks, row_key
from delayer.engines.store.store import Store, WriteRefused
from delayer.owners.admission import OwnerClaim
from delayer.owners.model import NO_POLICY, StoredOwnerPolicy, from_text, to_text
from delayer.owners.ports import DEFAULT
from delayer.schedule.instants import SECOND, Millis

KEY: Final = row_key("owner-claim")
CLAIM: Final[Mapped[OwnerClaim]] = Mapped(
    OwnerClaim,
    "an owner claim",
    claim=always(TEXT),
    issuer=always(TEXT),
    before=always(TEXT),
    issuer_before=always(TEXT),
    changed_at=always(NUMBER),
)
VERSION: Final = 1
ROW: Final = "owner-policy"
NAMES: Final = "owner-policies"
PARTS: Final = "0123456789abcdef"  # of the list of owners: an item takes 400 KB, and a name has up to one
POLICY: Final[Mapped[StoredOwnerPolicy]] = Mapped(
    StoredOwnerPolicy,
    "an owner policy",
    version=VERSION,
    without=("has_owners",),  # of the default alone, by a write of its own
    names={"policy": "document"},
    policy=Form(
        lambda policy: to_text(policy or NO_POLICY), lambda text: from_text(TEXT.load(text)) if text else None, ""
    ),
    revision=always(NUMBER),
    changed_at=always(NUMBER),
    by=always(TEXT),
)


@frozen(kw_only=True)
class StoredOwnerClaim:
    """Keeps the claim in a control row."""

    store: Store
    table: str

    def owner_claim(self) -> OwnerClaim | None:
        item = self.store.get(self.table, KEY)
        return CLAIM.row(item) if item is not None else None

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        self.store.write(Change(self.table, KEY, put=CLAIM.item(claim)))


@frozen(kw_only=True)
class StoredRateLimit:
    """Counts by a row for each owner and window."""

    store: Store
    table: str

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        if at_most < 1:
            return False  # the condition would let the first one pass
        change = Change(
            self.table,
            entry_key(f"rate#{owner}", window),
            put={"expiresAt": expires_at // SECOND},
            add={"count": 1},
            when=Some((lacks("count"), Is("count", at_most, "<"))),
        )
        try:
            self.store.write(change)
        except WriteRefused:
            return False
        return True


@frozen(kw_only=True)
class StoredOwnerPolicies:
    """Keeps a control row for each policy, and lists of who has one."""

    store: Store
    table: str

    def owner_policy(self, owner: str) -> StoredOwnerPolicy | None:
        item = self.store.get(self.table, row_key(row_of(owner)))
        return from_item(item) if item else None

    def write_owner_policy(self, owner: str, new: StoredOwnerPolicy, over: int) -> bool:
        """That an owner has one is noted first: a crash in between leaves a note too many, which costs a read."""
        if owner != DEFAULT:
            self.store.write(Change(self.table, row_key(names_of(owner)), add={"owners": frozenset({owner})}))
            self.store.write(Change(self.table, row_key(ROW), put={"owners": True, "v": VERSION}))
        return self._change(Change(self.table, row_key(row_of(owner)), put=POLICY.item(new), when=_as_read(over)))

    def remove_owner_policy(self, owner: str, over: int) -> bool:
        """The row of an owner stays, empty: its name is listed, and whoever reads it finds no policy."""
        gone = ("document", "revision", "changedAt", "by")
        key = row_key(row_of(owner))
        return over > 0 and self._change(Change(self.table, key, remove=gone, when=_as_read(over)))

    def owners_with_policy(self) -> Sequence[str]:
        rows = [self.store.get(self.table, row_key(f"{NAMES}#{part}")) or {} for part in PARTS]
        return sorted(name for row in rows for name in row.get("owners", ()))

    def _change(self, change: Change) -> bool:
        """Whether its condition held."""
        try:
            self.store.write(change)
        except WriteRefused:
            return False
        return True


def _as_read(over: int) -> Condition:
    return Is("revision", over) if over else lacks("revision")


def row_of(owner: str) -> str:
    """The name of a control row. The longest owner leaves room in a key: it has MAX_OWNER bytes, and a key 2,048."""
    return ROW if owner == DEFAULT else f"{ROW}#{owner}"


def names_of(owner: str) -> str:
    """The control row in whose list the owner stands."""
    return f"{NAMES}#{hashlib.sha256(owner.encode()).hexdigest()[0]}"


def from_item(item: StoredItem) -> StoredOwnerPolicy | None:
    """Reads the row that write_owner_policy has written; None for a row that says nothing any more. Raises
    Unavailable.
    """
    found = POLICY.row(item, has_owners=item.get("owners") is True)
    return found if found.policy is not None or found.has_owners else None
