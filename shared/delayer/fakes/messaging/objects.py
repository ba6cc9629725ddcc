"""Objects in memory."""


class MemoryObjects(dict[str, bytes]):
    """Port Objects."""

    def put(self, key: str, content: bytes) -> None:
        self[key] = content

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return sorted(key for key in self if key.startswith(prefix) and key > after)[:at_most]

    def remove(self, key: str) -> None:
        self.pop(key, None)
