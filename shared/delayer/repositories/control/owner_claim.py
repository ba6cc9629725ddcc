"""The control row `owner-claim`."""

from typing import Final

from attrs import frozen

from delayer.core.owners.claim import OwnerClaim
from delayer.store.items import row_key
from delayer.store.mapped import NUMBER, TEXT, Mapped, always
from delayer.store.store import Store
from delayer.store.writes import Change

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


@frozen(kw_only=True)
class StoredOwnerClaim:
    """Port KeepsOwnerClaim."""

    store: Store
    table: str

    def owner_claim(self) -> OwnerClaim | None:
        item = self.store.get(self.table, KEY)
        return CLAIM.row(item) if item is not None else None

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        self.store.write(Change(self.table, KEY, put=CLAIM.item(claim)))
