"""Texts that others wrote, and lines that begin with what matters."""

from rich.text import Text


def clean(text: str) -> str:
    """What others wrote cannot move the cursor, or colour the window. Lines stay lines."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)


def strong(begin: str, rest: str = "", style: str = "bold") -> Text:
    """A line whose begin is seen first."""
    return Text.assemble((begin, style), rest)
