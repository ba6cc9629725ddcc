"""The page of the client: what it shows, works; its tables name what there is."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

import delayer_client
from delayer_client import Delayer, errors
from delayer_client.testing import FakeDelayer
from tests.cfn import ROOT

PAGE = (ROOT / "docs/use/client.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_what_the_page_shows_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """All its blocks, one after the other, as a reader would type them."""
    fake = FakeDelayer(start=datetime.now(UTC))
    clients = fake.client(), fake.async_client()
    monkeypatch.setattr(delayer_client, "Delayer", lambda _url: clients[0])
    monkeypatch.setattr(delayer_client, "AsyncDelayer", lambda _url: clients[1])
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/use/client.md", "exec"), names)
    assert len(BLOCKS) >= 5
    shown = capsys.readouterr().out
    assert "scheduled 20" in shown
    assert "It will never be handed over." in shown
    assert names["received"](b"{}", {}, "whsec_AAAA") == 401


def test_its_table_names_each_call() -> None:
    table = PAGE.split("| call |")[1].split("\n\n")[0]
    calls = {name for name in vars(Delayer) if not name.startswith("_") and callable(getattr(Delayer, name))}
    assert {name for name in calls - {"close", "send"} if f"`{name}(" not in table} == set()
    for room in ("series", "groups", "connections"):
        assert f"`{room}." in table
    kinds = vars(__import__("delayer_client.synchronous.series", fromlist=["SeriesCalls"]).SeriesCalls)
    rows = next(line for line in table.splitlines() if "`series.…`" in line)
    assert {name for name in kinds if not name.startswith("_") and f"`{name}`" not in rows} <= {
        "get_named",
        "cancel_named",
    }


def test_its_table_names_each_exception() -> None:
    kinds = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}
    assert {name for name in kinds - {"DelayerError", "Refused"} if f"`{name}`" not in PAGE} == set()


def test_the_readme_names_each_room() -> None:
    readme = (ROOT / "client/README.md").read_text()
    rooms = {path.name for path in (ROOT / "client/delayer_client").iterdir() if (path / "__init__.py").exists()}
    assert {room for room in rooms if f"`{room}/`" not in readme} == set()
