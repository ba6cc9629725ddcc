"""What is asked for within a second is looked up once; what fails or hangs concerns nobody later."""

import socket
import threading
from collections.abc import Callable, Iterable

import pytest
from attrs import define, field

from delayer.targets.public_addresses import KEPT_SECONDS, MOST_KEPT, MOST_UNDER_WAY, LookUps


@define
class Resolver:
    """Answers each question with another address, and counts."""

    asked: list[str] = field(factory=list)
    fails: bool = False

    def __call__(self, host: str, port: int) -> Iterable[str]:
        self.asked.append(f"{host}:{port}")
        if self.fails:
            raise socket.gaierror(-2, "Name or service not known")
        return [f"192.0.2.{len(self.asked)}"]


@define
class Time:
    """By hand."""

    at: float = 100.0

    def __call__(self) -> float:
        return self.at


def ten_at_once(ask: Callable[[], None], may_answer: threading.Event) -> None:
    """The resolver may answer once all ten have been started."""
    threads = [threading.Thread(target=ask) for _ in range(10)]
    for one in threads:
        one.start()
    may_answer.set()
    for one in threads:
        one.join(20)


def test_a_burst_for_one_host_is_one_look_up() -> None:
    resolver = Resolver()
    look_ups = LookUps(resolve=resolver, now=Time())
    assert [look_ups.addresses("a.example", 443, 5) for _ in range(50)] == [["192.0.2.1"]] * 50
    assert resolver.asked == ["a.example:443"]


def test_another_port_or_host_is_another_question() -> None:
    resolver = Resolver()
    look_ups = LookUps(resolve=resolver)
    for host, port in (("a.example", 443), ("a.example", 80), ("b.example", 80)):
        look_ups.addresses(host, port, 5)
    assert resolver.asked == ["a.example:443", "a.example:80", "b.example:80"]


def test_a_name_that_has_moved_is_seen_after_a_second() -> None:
    resolver, now = Resolver(), Time()
    look_ups = LookUps(resolve=resolver, now=now)
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.1"]
    now.at += KEPT_SECONDS * 0.9
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.1"]
    now.at += KEPT_SECONDS * 0.2
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.2"]


def test_a_failure_is_not_kept() -> None:
    resolver = Resolver(fails=True)
    look_ups = LookUps(resolve=resolver)
    with pytest.raises(socket.gaierror):
        look_ups.addresses("a.example", 80, 5)
    resolver.fails = False
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.2"]


def test_a_name_without_addresses_is_a_failure_and_not_kept() -> None:
    answers: list[list[str]] = [[], ["192.0.2.1"]]
    look_ups = LookUps(resolve=lambda host, port: answers.pop(0))
    with pytest.raises(socket.gaierror):
        look_ups.addresses("a.example", 80, 5)
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.1"]


def test_those_who_ask_meanwhile_wait_for_the_same_answer_each_as_long_as_it_may() -> None:
    answers, asked = threading.Event(), []

    def slow(host: str, port: int) -> list[str]:
        asked.append(host)
        answers.wait(20)
        return ["192.0.2.1"]

    look_ups = LookUps(resolve=slow, now=Time())
    with pytest.raises(TimeoutError):
        look_ups.addresses("a.example", 80, 0)
    answers.set()
    assert look_ups.addresses("a.example", 80, 20) == ["192.0.2.1"]
    assert asked == ["a.example"]


def test_a_failure_is_of_the_attempt_that_asked_and_of_no_other() -> None:
    """A packet may be lost: five failures in a row open a circuit."""
    asked, may_fail = list[str](), threading.Event()

    def fails_once(host: str, port: int) -> list[str]:
        asked.append(host)
        if len(asked) > 1:
            return ["192.0.2.1"]
        may_fail.wait(20)
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    look_ups, answers = LookUps(resolve=fails_once), list[object]()

    def ask() -> None:
        try:
            answers.append(look_ups.addresses("a.example", 80, 20))
        except socket.gaierror:
            answers.append("failed")

    ten_at_once(ask, may_fail)
    assert answers.count("failed") == 1
    assert answers.count(["192.0.2.1"]) == 9


def test_ten_who_ask_at_once_ask_the_resolver_once() -> None:
    asked, answers = list[str](), threading.Event()

    def slow(host: str, port: int) -> list[str]:
        asked.append(host)
        answers.wait(20)
        return ["192.0.2.1"]

    look_ups, together = LookUps(resolve=slow, now=Time()), threading.Barrier(10)

    def ask() -> None:
        together.wait(20)
        look_ups.addresses("a.example", 80, 20)

    ten_at_once(ask, answers)
    assert asked == ["a.example"]


def test_without_a_thread_it_is_a_failure_and_the_next_one_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    look_ups = LookUps(resolve=Resolver())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        for _ in range(MOST_UNDER_WAY + 1):  # each gives its place back
            with pytest.raises(OSError, match="new thread"):
                look_ups.addresses("a.example", 80, 0)
    assert look_ups.addresses("a.example", 80, 5) == ["192.0.2.1"]


def test_names_without_end_do_not_fill_the_memory() -> None:
    resolver = Resolver()
    look_ups = LookUps(resolve=resolver, now=Time())
    for number in range(MOST_KEPT + 1):
        look_ups.addresses(f"{number}.example", 80, 5)
    look_ups.addresses(f"{MOST_KEPT}.example", 80, 5)
    assert len(resolver.asked) == MOST_KEPT + 1, "the last one is still known"
    look_ups.addresses("0.example", 80, 5)
    assert len(resolver.asked) == MOST_KEPT + 2
