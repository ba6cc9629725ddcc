"""Texts that others wrote, and lines that begin with what matters."""

from rich.text import Text


def clean(text: str) -> str:
    """A text that others wrote cannot move the cursor, or colour the window. Lines stay lines."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)


def in_json(text: str) -> str:
    """JSON in one line, the same for a program, whose signs a terminal cannot take as commands: those are `\\u…`."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    units = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def strong(begin: str, rest: str = "", style: str = "bold") -> Text:
    """A line whose begin is seen first."""
    return Text.assemble((begin, style), rest)
