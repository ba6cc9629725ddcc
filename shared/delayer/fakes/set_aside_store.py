"""The set-aside store."""

from attrs import Factory, define

from delayer.core.set_aside import Kept, encode


@define
class MemorySetAsideStore:
    """Port SetAsideStore."""

    objects: dict[str, bytes] = Factory(dict)

    def keep(self, kept: Kept) -> None:
        self.objects[kept.key] = encode(kept)

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return sorted(key for key in self.objects if key.startswith(prefix) and key > after)[:at_most]

    def get(self, key: str) -> bytes | None:
        return self.objects.get(key)

    def discard(self, key: str) -> None:
        self.objects.pop(key, None)
