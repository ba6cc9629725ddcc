"""What others wrote is shown as it is, and moves no cursor."""

import pytest
from rich.text import Text

from delayer_client.cli.showing.output import Output
from delayer_client.cli.showing.texts import strong


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\x9b31mb", "a\rb", "a\u202eb"])
def test_no_way_out_moves_the_cursor(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=False)
    output.show(text, Text(text), strong("A:", text))
    output.say(text)
    output.note(text)
    output.error(text)
    shown = "".join(capsys.readouterr())
    assert not set(shown) & {"\x1b", "\x9b", "\r", "\u202e"}


def test_lines_stay_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=False).show("one\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"
