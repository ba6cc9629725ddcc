"""Text of others on a terminal: a request may hold sequences that move the cursor, or that type for the user."""

REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    """The text with everything replaced that a terminal would not show as a character: controls, escapes, line ends."""
    return "".join(character if character.isprintable() else REPLACEMENT for character in text)
