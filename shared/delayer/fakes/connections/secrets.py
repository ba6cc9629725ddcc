"""Secrets, and what seals tokens, in memory."""

from attrs import Factory, define


@define
class MemorySecrets:
    """Port Secrets."""

    texts: dict[tuple[str, str], str] = Factory(dict)

    def create(self, owner: str, secret: str, text: str) -> None:
        self.texts.setdefault((owner, secret), text)

    def read(self, owner: str, secret: str) -> str | None:
        return self.texts.get((owner, secret))

    def delete(self, owner: str, secret: str) -> None:
        self.texts.pop((owner, secret), None)


@define
class MemorySeal:
    """Port Seal: a text is kept here, and stands for itself by a number."""

    key: str = "1"
    texts: dict[str, tuple[str, str, str]] = Factory(dict)

    def sealed(self, text: str, about: str) -> str:
        number = f"sealed-{len(self.texts) + 1}"
        self.texts[number] = (self.key, text, about)
        return number

    def opened(self, sealed: str, about: str) -> str | None:
        key, text, said = self.texts.get(sealed, ("", "", ""))
        return text if (key, said) == (self.key, about) else None
