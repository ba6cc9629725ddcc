"""The control rows of signatures."""

from attrs import Factory, define

from delayer.core.signing.keys import SigningKeys
from delayer.core.signing.rotation import Rotation


@define
class MemorySigningRows:
    """Port SigningRows."""

    keys: SigningKeys = Factory(SigningKeys)
    rotations: dict[str, Rotation] = Factory(dict)

    def signing_keys(self) -> SigningKeys:
        return self.keys

    def write_signing_keys(self, keys: SigningKeys, over: SigningKeys) -> bool:
        if self.keys.newest == over.newest:
            self.keys = keys
        return self.keys == keys

    def rotation(self, owner: str) -> Rotation:
        return self.rotations.get(owner, Rotation())

    def write_rotation(self, owner: str, rotation: Rotation, over: Rotation) -> bool:
        if self.rotation(owner).version == over.version:
            self.rotations[owner] = rotation
        return self.rotation(owner) == rotation
