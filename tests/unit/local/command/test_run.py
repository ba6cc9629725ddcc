"""`make local-aws` serves whatever its demonstration comes to."""

import signal
from contextlib import nullcontext
from typing import Any

import pytest

from local.command import interrupts, run
from local.command.options import Options
from local.stack.emulated_stack import EmulatedStack


def run_with(monkeypatch: pytest.MonkeyPatch, parameters: dict[str, str]) -> list[str]:
    """What was done after the start, when the command is given these template parameters."""
    done: list[str] = []
    monkeypatch.setattr(EmulatedStack, "start", lambda _self: None)
    monkeypatch.setattr(run, "Receiver", lambda _port: nullcontext(Named()))
    monkeypatch.setattr(run, "refuse_used", lambda _port: None)
    monkeypatch.setattr(run, "show_demonstration", lambda *_: done.append("demonstrated"))
    monkeypatch.setattr(EmulatedStack, "start_functions", lambda _self: done.append("started the functions"))
    monkeypatch.setattr(run, "serve", lambda *_: done.append("served"))
    run.run(Options(port=8080, parameters=parameters, demonstrates=True))
    return done


class Named:
    """A receiver that is only named."""

    url = "http://127.0.0.1:8082"
    requests = ()


def test_it_demonstrates_and_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_with(monkeypatch, {}) == ["demonstrated", "started the functions", "served"]


def test_where_its_own_target_is_refused_it_says_so_and_serves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended after half a minute: the demonstration did not arrive."""
    assert run_with(monkeypatch, {"AllowPrivateTargets": "false"}) == ["started the functions", "served"]
    assert "AllowPrivateTargets=false: targets on this machine are refused" in capsys.readouterr().out


@pytest.mark.parametrize("ignored", [True, False], ids=["nohup", "terminal"])
def test_the_end_of_the_terminal_is_like_ctrl_c(monkeypatch: pytest.MonkeyPatch, ignored: bool) -> None:
    handlers: dict[int, Any] = {}
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(signal, "getsignal", lambda _number: signal.SIG_IGN if ignored else signal.SIG_DFL)
    interrupts.install()
    assert set(handlers) == {signal.SIGINT, signal.SIGTERM} | (set() if ignored else {signal.SIGHUP})
    for handler in handlers.values():
        with pytest.raises(KeyboardInterrupt):
            handler(signal.SIGHUP, None)
