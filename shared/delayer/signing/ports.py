"""The control rows of signatures: the stack's keys, and the owners who have rotated their secrets (ADR 0104)."""

from typing import Any, Protocol

from delayer.actions.rules.model import Message
from delayer.signing.rules import Rotation, SigningKeys


class Signs(Protocol):
    """Signs an attempt, so that its target can verify it."""

    def __call__(self, message: Message[Any]) -> dict[str, str]:
        """The headers of one attempt, which is made now. Raises NotAttempted: nothing goes out unsigned."""
        ...


class SigningRows(Protocol):
    """Keeps the stack's keys of signatures, and the owners who have rotated their secrets."""

    def signing_keys(self) -> SigningKeys:
        """Strongly consistent; empty if none was made yet."""
        ...

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        """Whether they are stored; False: others than `over` were there. A repeat finds its own, and is done."""
        ...

    def rotation(self, owner: str) -> Rotation:
        """Strongly consistent; without a row, that of an owner who has never rotated."""
        ...

    def write_rotation(self, owner: str, rotation: Rotation, over: Rotation) -> bool:
        """Whether it is stored; False: another than `over` was there. A repeat finds its own, and is done."""
        ...
