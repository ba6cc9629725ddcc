"""A measurement begins when all is scheduled."""

import threading
from collections.abc import Mapping, Sequence

import pytest

from bench.command.options import parse
from bench.load.generator import now
from bench.peers.measures import Measurement
from bench.peers.run import sizes_of
from local.receiver import Receiver
from tests.unit.bench.peers.scripted import Scripted

FAR = 1_000_000  # ms


class Immediate(Scripted):
    """Everything arrives at once."""

    def __init__(self, receiver: Receiver) -> None:
        super().__init__()
        self.receiver = receiver
        self.lock = threading.Lock()
        self.paths: list[str] = []
        self.times: list[int] = []

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        with self.lock:
            path = url.removeprefix(self.receiver.url)
            self.paths.append(path)
            self.times += times
            due = {f"{path} {self.receiver.counts[path] + number}": at for number, at in enumerate(times)}
            for one in due:
                self.receiver.record(now(), "POST", path, {"idempotency-key": one}, b"")
        return due


@pytest.fixture
def measurement(monkeypatch: pytest.MonkeyPatch) -> Measurement:
    monkeypatch.setattr("bench.peers.measures.time.sleep", lambda seconds: None)
    receiver = Receiver()
    receiver.server.server_close()  # nothing comes through the network
    return Measurement(contender=Immediate(receiver), receiver=receiver, sizes=sizes_of(parse(["--quick", "--peers"])))


def test_what_was_scheduled_in_time_is_measured(measurement: Measurement) -> None:
    path, due = measurement.ahead("/x", 2, lambda start: [start + FAR, start + FAR])
    assert (path, sorted(due)) == ("/x", ["/x 0", "/x 1"])


def test_what_was_scheduled_too_late_is_repeated_once(
    measurement: Measurement, capsys: pytest.CaptureFixture[str]
) -> None:
    path, due = measurement.ahead("/x", 1, lambda start: [start - FAR])
    assert (path, list(due)) == ("/x-again", ["/x-again 0"])
    assert "/x was scheduled" in capsys.readouterr().out


def test_beside_posts_each_has_a_call_of_its_own_a_few_seconds_ahead(measurement: Measurement) -> None:
    contender = measurement.contender
    assert isinstance(contender, Immediate)
    began = now()
    (row,) = measurement.beside_posts()
    assert (row.name, row.schedules, row.lost, row.doubled) == ("20/s beside POSTs", 200, 0, 0)
    assert contender.paths == ["/beside-posts"] * 200
    assert began + 3_000 <= min(contender.times) <= max(contender.times) <= now() + 17_000


def test_what_was_asked_for_50_ms_ahead_is_in_time(measurement: Measurement) -> None:
    counts = measurement.cancels()  # no call waits for its moment here
    assert (counts.cancelled, counts.fired_all_the_same) == (50, 50)
    assert (counts.in_time, counts.taken_in_time) == (50, 0)


def test_the_lead_is_that_of_the_slowest_of_the_last_rounds(measurement: Measurement) -> None:
    measurement.speeds[:] = [1.0, 100.0, 50.0]
    assert 1_000 * 1000 / 50 < measurement.start_for(1_000) - now() < 1_000 * 1000 / 40 + 6_000
