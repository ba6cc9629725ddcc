"""What several threads want at the same time is one request: every interleaving of a few threads is tried.

The threads are greenlets here, and wherever one of them waits, each of those that could go on is let go on in turn.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Condition, Thread
from typing import Any

import pytest
from attrs import define, evolve, field, frozen
from greenlet import getcurrent, greenlet

from delayer.engines.memory.faults import Crash
from delayer.engines.memory.runtime import ManualClock
from delayer.engines.ports import Unavailable
from delayer.execute.together import AT_MOST, LONGEST, MOMENT, Attendance, Gathering, LedgerTogether
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.ports import Conflict, WriteResult, Written
from delayer.ledger.repository import StoredLedgerInBatches
from tests.samples import NOW, a_claim, an_id
from tests.tables import on_sqlite

# ------------------------------------------------------------ every interleaving


@define(eq=False)
class Choices:
    """One path through all choices; `following` gives the next one."""

    given: list[int] = field(factory=list)
    widths: list[int] = field(factory=list)

    def choose(self, width: int) -> int:
        at = len(self.widths)
        self.widths.append(width)
        if at == len(self.given):
            self.given.append(0)
        return self.given[at]

    def following(self) -> "Choices | None":
        path = list(self.given)
        while path and path[-1] + 1 == self.widths[len(path) - 1]:
            path.pop()
        return Choices(given=[*path[:-1], path[-1] + 1]) if path else None


@define(eq=False)
class Waiting:
    """A greenlet that waits: for a notification, for its time, or for the answer to its request."""

    thread: greenlet
    may_go_on: bool
    by_notice: bool = False


@define(eq=False)
class Stage:
    """Port Meeting, and whatever runs on it."""

    choices: Choices
    requests: list[list[str]] = field(factory=list)
    fails: bool = False
    clock: ManualClock = field(factory=lambda: ManualClock(NOW))
    waiting: list[Waiting] = field(factory=list)
    asked_before: dict[str, int] = field(factory=dict)  # how many requests had begun when a wish was asked for
    _hub: greenlet = field(factory=getcurrent)

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def wait(self, timeout: float | None = None) -> bool:
        one = Waiting(getcurrent(), may_go_on=timeout is not None)
        self._pause(one)
        if not one.by_notice and timeout:
            self.clock.move(round(timeout * 1000))
        return one.by_notice

    def notify_all(self) -> None:
        for one in self.waiting:
            one.may_go_on = one.by_notice = True

    def _pause(self, one: Waiting) -> None:
        self.waiting.append(one)
        self._hub.switch()

    def request(self, wishes: Sequence[str]) -> list[str]:
        """Takes a while; then everything else may have happened."""
        number = len(self.requests)
        self.requests.append(list(wishes))
        self._pause(Waiting(getcurrent(), may_go_on=True))
        if self.fails and number % 2 == 0:
            raise Unavailable("injected")
        return [f"answer to {wish}" for wish in wishes]

    def play(self, threads: Sequence[Callable[[], None]]) -> None:
        self.waiting = [Waiting(greenlet(body, self._hub), may_go_on=True) for body in threads]
        while ready := [one for one in self.waiting if one.may_go_on]:
            one = ready[self.choices.choose(len(ready))]
            self.waiting = [other for other in self.waiting if other is not one]
            one.thread.switch()
        assert self.waiting == [], "somebody waits for ever"


def every_path() -> Iterator[Choices]:
    path: Choices | None = Choices()
    while path:
        yield path
        path = path.following()


@pytest.mark.parametrize("fails", [False, True], ids=["well", "failing"])
@pytest.mark.parametrize(
    ("wishes", "attempting"),
    [
        ([["a1"], ["b1"]], 0),
        ([["a1"], ["b1"], ["c1"]], 0),
        ([["a1"], ["b1"]], 1),
        ([["a1"], ["a2"], ["b1"]], 0),
    ],
    ids=["two", "three", "one is at its target", "two of one key"],
)
def test_everybody_is_answered_once_whatever_comes_first(wishes: list[list[str]], attempting: int, fails: bool) -> None:
    """By a request that began after it was asked for, in which no key is twice. Nobody waits for ever."""
    paths, sizes = 0, set[int]()
    for path in every_path():
        paths += 1
        stage = Stage(choices=path, fails=fails)
        answers = played(stage, wishes, attempting)
        asked = [wish for request in stage.requests for wish in request]
        assert Counter(asked) == Counter(wish for one in wishes for wish in one)
        for number, request in enumerate(stage.requests):
            assert len({wish[0] for wish in request}) == len(request)
            assert all(stage.asked_before[wish] <= number for wish in request)
            for wish in request:
                assert answers[wish] == ("injected" if fails and number % 2 == 0 else f"answer to {wish}")
        sizes.update(map(len, stage.requests))
    assert paths >= 6
    assert max(sizes) == len({one[0][0] for one in wishes}), "they were never together"


def played(stage: Stage, wishes: Sequence[Sequence[str]], attempting: int) -> dict[str, str]:
    answers: dict[str, str] = {}
    attendance = Attendance(meeting=stage, attempting=attempting)
    gathering = Gathering[str, str](
        do=stage.request, key_of=lambda wish: wish[0], clock=stage.clock, attendance=attendance, after_attempts=True
    )

    def body(own: Sequence[str], end: Callable[[], None]) -> None:
        for wish in own:
            stage.asked_before[wish] = len(stage.requests)
            try:
                answers[wish] = gathering(wish)
            except Unavailable as error:
                answers[wish] = str(error)
        end()

    with attendance.batch(len(wishes)) as end:
        stage.play([lambda own=one: body(own, end) for one in wishes])  # type: ignore[misc] # a default binds it
    assert attendance.running == 0
    return answers


def test_what_goes_on_behind_its_batch_is_counted_no_more() -> None:
    """A thread that was given up, and one that says its end twice."""
    attendance = Attendance(meeting=Stage(choices=Choices(given=[])))
    with attendance.batch(2) as end:
        for left in (1, 0, 0):
            end()
            assert attendance.running == left
    end()
    assert attendance.running == 0
    with attendance.batch(3) as given_up:
        pass
    given_up()
    assert attendance.running == 0


def test_whoever_comes_back_from_its_target_is_waited_for_and_leaves_nobody_waiting() -> None:
    """Two are at their targets while a third asks: they are back before its moment is over, or after it."""
    sizes = set[int]()
    for path in every_path():
        stage = Stage(choices=path)
        attendance, answers = Attendance(meeting=stage), dict[str, str]()
        gathering = Gathering[str, str](
            do=stage.request, key_of=str, clock=stage.clock, attendance=attendance, after_attempts=True
        )

        def asks(
            wish: str,
            is_away: bool,
            end: Callable[[], None],
            attendance: Attendance = attendance,
            gathering: Gathering[str, str] = gathering,
            stage: Stage = stage,
            answers: dict[str, str] = answers,
        ) -> None:
            if is_away:
                with attendance.away(attempting=1):
                    stage.wait(0.002)
            answers[wish] = gathering(wish)
            end()

        with attendance.batch(3) as end:
            stage.play([partial(asks, "a", True, end), partial(asks, "b", False, end), partial(asks, "c", True, end)])
        assert answers == {wish: f"answer to {wish}" for wish in "abc"}
        assert (attendance.running, attendance.attempting) == (0, 0)
        sizes.update(map(len, stage.requests))
    assert sizes == {1, 2, 3}, "together if they are there in time, and alone if not"


def test_a_function_that_dies_leaves_nobody_waiting() -> None:
    """Whoever makes the request for all: the others die with it."""
    for path in every_path():
        stage = Stage(choices=path)
        died: list[str] = []

        def dies(wishes: Sequence[str]) -> list[str]:
            raise Crash

        gathering = Gathering[str, str](
            do=dies,
            key_of=str,
            clock=stage.clock,
            attendance=Attendance(meeting=stage, running=2),
            after_attempts=False,
        )

        def body(wish: str, gathering: Gathering[str, str] = gathering, died: list[str] = died) -> None:
            try:
                gathering(wish)
            except Crash:
                died.append(wish)

        stage.play([lambda: body("a"), lambda: body("b")])
        assert sorted(died) == ["a", "b"]


# ------------------------------------------------------------ the ledger, with threads


class Patient(Condition):
    """A moment lasts as long as it takes until somebody comes: what is seen does not depend on the machine."""

    def wait(self, timeout: float | None = None) -> bool:
        return super().wait(20)


@frozen(kw_only=True)
class Noting(StoredLedgerInBatches):
    """Writes down how many came together."""

    reads: list[int] = field(factory=list)
    batches: list[int] = field(factory=list)
    malformed: set[str] = field(factory=set)

    def read_each(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow | Unavailable]:
        self.reads.append(len(schedule_ids))
        found = super().read_each(schedule_ids)
        return {name: Unavailable("malformed") if name in self.malformed else row for name, row in found.items()}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        self.batches.append(len(changes))
        return super().write(changes)


@pytest.fixture
def noting() -> Noting:
    return on_sqlite(Noting)


@pytest.fixture
def ledger(noting: Noting) -> LedgerTogether:
    return LedgerTogether(ledger_in_batches=noting, clock=ManualClock(NOW), new_meeting=Patient)


def side_by_side(do: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    answers: dict[int, Any] = {}

    def run(number: int, item: Any) -> None:
        try:
            answers[number] = do(item)
        except Unavailable as error:
            answers[number] = error

    threads = [Thread(target=run, args=pair, daemon=True) for pair in enumerate(items)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    return [answers[number] for number in range(len(items))]


def test_a_batch_reads_and_writes_in_one_request_each(ledger: LedgerTogether, noting: Noting) -> None:
    rows = [a_claim(due=NOW + at) for at in range(10)]
    noting.write([LedgerChange(row=row) for row in rows[::2]])
    noting.batches.clear()
    with ledger.batch(10):
        found = side_by_side(ledger.read, [row.schedule_id for row in rows])
        results = side_by_side(ledger.write, [[LedgerChange(row=evolve(row, nonce="n2"))] for row in rows])
    assert found == [row if at % 2 == 0 else None for at, row in enumerate(rows)]
    assert results == [[Conflict(row)] if at % 2 == 0 else [Written()] for at, row in enumerate(rows)]
    assert (noting.reads, noting.batches) == ([10], [10])


@pytest.mark.parametrize(
    ("running", "attempting", "after_attempts", "waited"),
    [(0, 0, True, 0), (0, 1, False, 0), (0, 1, True, MOMENT), (1, 0, False, LONGEST), (1, 1, True, LONGEST)],
    ids=["nobody", "a read and an attempt", "an outcome and an attempt", "a read", "both"],
)
def test_nobody_is_waited_for_longer_than_that(
    running: int, attempting: int, after_attempts: bool, waited: int
) -> None:
    """Whoever does not come."""
    stage = Stage(choices=Choices())
    attendance = Attendance(meeting=stage, running=running, attempting=attempting)
    gathering = Gathering[str, str](
        do=stage.request, key_of=str, clock=stage.clock, attendance=attendance, after_attempts=after_attempts
    )

    with attendance.batch(1) as end:
        stage.play([lambda: (gathering("a"), end())[1]])
    assert stage.clock.at == NOW + waited
    assert (attendance.running, attendance.attempting) == (running, attempting)


def test_one_alone_waits_for_nobody(ledger: LedgerTogether, noting: Noting) -> None:
    with ledger.batch(1):
        assert ledger.read(an_id()) is None
        assert ledger.write([LedgerChange(row=a_claim())]) == [Written()]
    assert ledger.read(an_id()) == a_claim(), "nor does one that is of no batch"
    assert (noting.reads, noting.batches) == ([1, 1], [1])


def test_a_request_has_as_many_as_dynamodb_takes(ledger: LedgerTogether, noting: Noting) -> None:
    rows = [a_claim(due=NOW + at) for at in range(AT_MOST + 1)]

    def write(row: LedgerRow) -> list[WriteResult]:
        try:
            return ledger.write([LedgerChange(row=row)])
        finally:
            end()

    with ledger.batch(AT_MOST + 1) as end:
        results = side_by_side(write, rows)
    assert results == [[Written()]] * (AT_MOST + 1)
    assert max(noting.batches) == AT_MOST
    assert sum(noting.batches) == AT_MOST + 1


def test_a_row_that_cannot_be_read_concerns_its_own_schedule_only(ledger: LedgerTogether, noting: Noting) -> None:
    rows = [a_claim(due=NOW + at) for at in range(3)]
    noting.write([LedgerChange(row=row) for row in rows])
    noting.malformed.add(rows[1].schedule_id)
    with ledger.batch(3):
        first, second, third = side_by_side(ledger.read, [row.schedule_id for row in rows])
    assert (first, third) == (rows[0], rows[2])
    assert isinstance(second, Unavailable)
