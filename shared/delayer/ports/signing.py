"""The control rows of signatures: the stack's keys, and the owners who have rotated their secrets (ADR 0104)."""

from typing import Any, Protocol

from delayer.core.actions.message import Message
from delayer.core.signing.keys import SigningKeys
from delayer.core.signing.rotation import Rotation


class ReadsSigningKeys(Protocol):
    """Part of SigningRows."""

    def signing_keys(self) -> SigningKeys:
        """Strongly consistent; empty if none was made yet."""
        ...


class WritesSigningKeys(Protocol):
    """Part of SigningRows."""

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        """Whether they are stored; False: others than `over` were there. A repeat finds its own, and is done."""
        ...


class ReadsRotations(Protocol):
    """Part of SigningRows."""

    def rotation(self, owner: str) -> Rotation:
        """Strongly consistent; without a row, that of an owner who has never rotated."""
        ...


class WritesRotations(Protocol):
    """Part of SigningRows."""

    def write_rotation(self, owner: str, rotation: Rotation, over: Rotation) -> bool:
        """Whether it is stored; False: another than `over` was there. A repeat finds its own, and is done."""
        ...


class Signs(Protocol):
    """What makes an attempt one that its target can verify."""

    def __call__(self, message: Message[Any]) -> dict[str, str]:
        """The headers of one attempt, which is made now. Raises NotAttempted: nothing goes out unsigned."""
        ...


class SigningRows(ReadsSigningKeys, WritesSigningKeys, ReadsRotations, WritesRotations, Protocol):
    """All of it."""
