"""What others wrote cannot control the terminal."""

import pytest

from local.printable import printable


@pytest.mark.parametrize(
    "text",
    ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "\r", "\n", "\b\b", "\x00", "\x7f", "\u202e", "\u2028", "\ud800"],
    ids=ascii,
)
def test_controls_are_replaced(text: str) -> None:
    shown = printable(f"a{text}b")
    assert shown.isprintable()
    assert (shown[0], shown[-1], len(shown)) == ("a", "b", len(text) + 2)


def test_everything_else_is_shown() -> None:
    text = 'POST /hello?a=b {"name": "\u00e4 \u4e2d \U0001f600"}'
    assert printable(text) == text
