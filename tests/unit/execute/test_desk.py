"""Courses that one thread leads: every interleaving of a few of them is tried, and random ones of many.

Nothing runs side by side here. Wherever the leader hears what has ended, each thing that is done apart may have ended
by then, one after the other or several at once, or none of them in time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from attrs import define, field, frozen
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.engines.workers import outcome_of
from delayer.execute.desk import AT_MOST, LOOK_AGAIN, Apart, Course, Desk, SharedRequest, TookTooLong, Until
from delayer.execute.execute import MOMENT
from delayer.schedule.instants import SECOND, Millis
from tests.fakes.faults import Crash
from tests.samples import NOW

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


def every_path() -> Iterator[Choices]:
    path: Choices | None = Choices()
    while path:
        yield path
        path = path.following()


@frozen
class Ask:
    """Asks for something at once."""

    name: str


@frozen
class Tell:
    """Waits a moment for others that are at their targets."""

    name: str


@define(eq=False, kw_only=True)
class Stage:
    """Port Workers, and the courses that play on it, whose promises it watches."""

    choose: Callable[[int], int] = lambda _: 0
    fails: bool = False  # every second request does, from the first on
    patience: int = 1  # long waits in which nothing ends
    circles: int = 0  # in which the leader found nothing to do, and did not wait
    clock: ManualClock = field(factory=lambda: ManualClock(NOW))
    desk: Desk = field(init=False)
    requests: list[list[str]] = field(factory=list)
    in_leader: list[list[str]] = field(factory=list)  # those of them that it has made itself
    asked: dict[str, tuple[int, Millis]] = field(factory=dict)  # how many requests had begun by then, and when
    waiting: set[str] = field(factory=set)  # whose wish has been asked for, and not begun
    at_targets: set[str] = field(factory=set)
    answers: dict[str, str] = field(factory=dict)
    woken: list[tuple[Millis, Millis]] = field(factory=list)  # when it was to be, and when it was
    left: list[str] = field(factory=list)  # who has heard that it took too long
    ended_with: dict[str, list[Any]] = field(factory=dict)
    under_way: set[str] = field(factory=set)
    left_behind: int = 0
    _running: dict[int, Any] = field(factory=dict)
    _at_once: list[tuple[int, Any]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        requests: dict[type, SharedRequest] = {
            Ask: SharedRequest(do=self.request, key_of=lambda wish: wish.name[0]),
            Tell: SharedRequest(do=self.request, key_of=lambda wish: wish.name[0], moment=MOMENT),
        }
        self.desk = Desk(clock=self.clock, workers=self, requests=requests)

    # ------------------------------------------------------------ port Workers

    def begin(self) -> None: ...

    def start(self, number: int, do: Callable[[], object]) -> None:
        assert number not in self._running
        self._running[number] = outcome_of(do)

    def do(self, number: int, do: Callable[[], object]) -> None:
        before = len(self.requests)
        self._at_once.append((number, outcome_of(do)))
        [made] = self.requests[before:]
        self.in_leader.append(made)
        assert {name[0] for name in made} == {name[0] for name in self.under_way}, "somebody would have to wait"
        assert len(made) == len(self.under_way)

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        found, self._at_once = self._at_once, []
        if until != 0 and not found:
            if until is not None and until <= self.clock.now():  # somebody has only just asked to go on at once
                self.circles += 1
                assert self.circles < 3, "it runs in circles"
                return []
            self.circles = 0
            assert self._running or until is not None, "somebody waits for ever"
            assert not self.waiting or self.at_targets, "it waits, though nobody may come soon"
            if until is not None and (not self._running or self._chooses_to_wait(until)):
                self.clock.sleep_until(until)
                return []
            one = self.choose(len(self._running))
            self.clock.move(0 if until == self.clock.now() + 1 else 1)
            found.append(self._take(one))
        if self._running and (one := self.choose(len(self._running) + 1)):
            found.append(self._take(one - 1))
        return found

    def leave_behind(self, number: int) -> None:
        del self._running[number]
        self.left_behind += 1

    def _chooses_to_wait(self, until: Millis) -> bool:
        """Until nothing has ended in time: of long waits there are few, or nobody would ever come to an end."""
        is_long = until - self.clock.now() > SECOND // 2
        if (is_long and not self.patience) or not self.choose(2):
            return False
        self.patience -= is_long
        return True

    def _take(self, at: int) -> tuple[int, object]:
        number = sorted(self._running)[at]
        return number, self._running.pop(number)

    # ------------------------------------------------------------ what is asked for

    def request(self, wishes: Sequence[Ask | Tell]) -> list[Any]:
        number, now = len(self.requests), self.clock.now()
        self.requests.append([wish.name for wish in wishes])
        assert 0 < len(wishes) <= AT_MOST
        assert len({wish.name[0] for wish in wishes}) == len(wishes), "a key is in it twice"
        for wish in wishes:
            self.waiting.remove(wish.name)
            before, since = self.asked[wish.name]
            assert before <= number
            alone = not any(name[0] == wish.name[0] for name in self.waiting)
            assert not alone or now - since <= (MOMENT if isinstance(wish, Tell) else 0)
        if self.fails and number % 2 == 0:
            raise Unavailable("injected")
        return [f"answer to {wish.name}" for wish in wishes]

    def expected(self) -> dict[str, str]:
        """Each by the request in which it was."""
        return {
            name: "injected" if self.fails and number % 2 == 0 else f"answer to {name}"
            for number, request in enumerate(self.requests)
            for name in request
        }

    # ------------------------------------------------------------ courses

    def course(self, name: str, steps: Sequence[Any]) -> Course:
        for number, step in enumerate(steps):
            wish = f"{name}.{number}"
            match step:
                case "ask" | "tell":
                    self.asked[wish] = len(self.requests), self.clock.now()
                    self.waiting.add(wish)
                    try:
                        self.answers[wish] = yield (Ask if step == "ask" else Tell)(wish)
                    except Unavailable as error:
                        self.answers[wish] = str(error)
                case "apart":
                    yield Apart(lambda: None)
                case ("target", limit):
                    yield from self._at_target(name, limit)
                case ("until", wait):
                    at = self.clock.now() + wait
                    yield Until(at)
                    self.woken.append((max(at, at - wait), self.clock.now()))
                case ("begin", other, its):
                    self.take_in(other, its)
        return name

    def _at_target(self, name: str, limit: Millis) -> Course:
        began, until = self.clock.now(), self.clock.now() + limit
        self.at_targets.add(name)
        try:
            assert (yield Apart(lambda: f"done by {name}", left_at=lambda: until if limit else 0)) == f"done by {name}"
        except TookTooLong:
            self.left.append(name)
            assert limit
            assert self.clock.now() >= until
        assert self.clock.now() >= began
        self.at_targets.remove(name)

    def take_in(self, name: str, steps: Sequence[Any]) -> None:
        def done(result: Any) -> None:
            self.under_way.remove(name)
            self.ended_with.setdefault(name, []).append(result)

        self.under_way.add(name)
        self.desk.begin(self.course(name, steps), done)

    def play(self, courses: dict[str, Sequence[Any]]) -> None:
        for name, steps in courses.items():
            self.take_in(name, steps)
        self.desk.run()
        assert self.ended_with == {name: [name] for name in self.ended_with}
        assert not self.under_way
        assert set(courses) <= set(self.ended_with)
        assert not self.waiting
        assert Counter(name for request in self.requests for name in request) == Counter(list(self.asked))
        assert self.answers == self.expected()
        assert len(self.left) == self.left_behind
        assert all(at == now for at, now in self.woken), "time passes here only while the leader waits"


TARGET = ("target", 0)
STORIES: dict[str, tuple[int, dict[str, Sequence[Any]]]] = {  # with how many are in one request, if all goes well
    "two": (2, {"a": ["ask", "ask"], "b": ["ask"]}),
    "three": (3, {"a": ["ask"], "b": ["ask"], "c": ["ask"]}),
    "a batch of two": (2, {"a": ["ask", TARGET, "tell"], "b": ["ask", TARGET, "tell"]}),
    "three at their targets": (3, {"a": [TARGET, "tell"], "b": [TARGET, "tell"], "c": ["tell"]}),
    "two of one key": (2, {"a": ["tell"], "a2": ["tell"], "b": [TARGET, "tell"]}),
    "both kinds at once": (2, {"a": ["ask", "tell"], "b": ["tell", "ask"]}),
    "both kinds beside an attempt": (1, {"a": ["tell"], "b": ["ask"], "c": [TARGET]}),
    "one sleeps": (2, {"a": [("until", 2), "ask"], "b": [TARGET, "ask"], "c": ["tell"]}),
    "one hangs": (2, {"a": [("target", 5), "tell"], "b": [TARGET, "tell"]}),
    "all hang": (2, {"a": [("target", 2), "tell"], "b": [("target", 2), "tell"], "c": [("until", 1)]}),
    "one comes in": (2, {"a": [TARGET, ("begin", "b", ["ask", "tell"]), "tell"], "c": [("until", 1), "ask"]}),
}


@pytest.mark.parametrize("fails", [False, True], ids=["well", "failing"])
@pytest.mark.parametrize("story", STORIES)
def test_each_is_answered_once_by_its_own_answer_whatever_comes_first(story: str, fails: bool) -> None:
    """What the stage watches, on each path: a request has no key twice, begins after each of its wishes, waits a moment
    at most, and only for those at their targets; nobody waits for ever, and nothing that others would wait for is done
    in the thread of the leader.
    """
    most, courses = STORIES[story]
    sizes = set[int]()
    for path in every_path():
        stage = Stage(choose=path.choose, fails=fails)
        stage.play(courses)
        sizes.update(map(len, stage.requests))
    assert max(sizes) == most


names = st.sampled_from("abcdef")
steps = st.one_of(
    st.sampled_from(["ask", "tell"]),
    st.tuples(st.just("target"), st.sampled_from([0, 0, 1, 3, 2 * SECOND])),
    st.tuples(st.just("until"), st.integers(-1, 4)),
)
programs = st.lists(steps, max_size=5)


@given(st.data(), st.lists(st.tuples(names, programs), max_size=8), programs, st.booleans())
def test_random_courses_keep_all_promises(
    data: st.DataObject, drawn: list[tuple[str, list[Any]]], beside: list[Any], fails: bool
) -> None:
    """The same, with more of them."""
    stage = Stage(choose=lambda width: data.draw(st.integers(0, width - 1)), fails=fails)
    courses: dict[str, Sequence[Any]] = {f"{name}{number}": its for number, (name, its) in enumerate(drawn)}
    for its in list(courses.values())[:1]:
        courses["z"] = [*its, ("begin", "y", beside)]
    stage.play(courses)


# ------------------------------------------------------------ who waits for whom


def test_a_request_has_as_many_as_dynamodb_takes() -> None:
    """The first that asked, and it waits for no more; the others are in the next one."""
    stage = Waiting(begun=[])
    many = {f"{chr(200 + number)}{number}": ["tell"] for number in range(AT_MOST + 2)}
    stage.play({**many, "z": [TARGET]})
    first, second = stage.requests
    assert [name.partition(".")[0] for name in first + second] == list(many)
    assert (len(first), len(second)) == (AT_MOST, 2)
    assert stage.begun[0] == NOW
    assert stage.begun[1] <= NOW + MOMENT


@pytest.mark.parametrize(
    ("kind", "beside", "waited"),
    [
        ("tell", [], 0),
        ("ask", [TARGET], 0),
        ("tell", [TARGET], MOMENT),
        ("tell", [("until", SECOND)], 0),
        ("tell", ["apart"], 0),
    ],
    ids=["nobody", "a read and an attempt", "an outcome and an attempt", "one that sleeps", "one at a service of AWS"],
)
def test_nobody_is_waited_for_longer_than_that(kind: str, beside: list[Any], waited: Millis) -> None:
    """Whoever does not come."""
    begun: list[Millis] = []
    stage = Waiting(begun=begun)
    stage.play({"a": [kind], **({"b": beside} if beside else {})})
    assert begun == [NOW + waited]


@define(eq=False, kw_only=True)
class Waiting(Stage):
    """Nothing that others do comes to an end while time may pass."""

    begun: list[Millis]
    patience: int = 100

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        if until and not self._at_once and self.requests and self._running:
            until = None  # now it may
        if until:
            self.clock.sleep_until(until)
            return []
        return super().ended(until)

    def request(self, wishes: Sequence[Ask | Tell]) -> list[Any]:
        self.begun.append(self.clock.now())
        return super().request(wishes)


def test_the_leader_makes_the_request_of_all_itself_and_no_other() -> None:
    """To hand it to a thread costs more than to wait for it; but who waits for another wish would wait for both."""
    stage = Stage()
    stage.play({"a": ["ask"], "b": ["ask"]})
    assert stage.in_leader == [["a.0", "b.0"]]
    stage = Stage()
    stage.play({"a": ["ask"], "b": [("until", 1), "ask"]})
    assert stage.in_leader == [["b.1"]], "as nobody else is there any more"


def desk_of(*, workers: Any = None, **requests: SharedRequest) -> tuple[Desk, Any]:
    kinds: dict[str, type] = {"ask": Ask, "tell": Tell}
    stage = workers or Stage()
    made: dict[type, SharedRequest] = {kinds[name]: request for name, request in requests.items()}
    return Desk(clock=stage.clock, workers=stage, requests=made), stage


def test_an_answer_may_be_an_error_which_is_raised_where_it_was_asked_for_alone() -> None:
    def answered(wishes: Sequence[Ask]) -> list[Any]:
        return [Unavailable("malformed") if wish.name == "b" else wish.name for wish in wishes]

    found: dict[str, str] = {}

    def course(name: str) -> Course:
        try:
            found[name] = yield Ask(name)
        except Unavailable as error:
            found[name] = str(error)

    desk, _ = desk_of(ask=SharedRequest(do=answered), workers=Plain())
    for name in "abc":
        desk.begin(course(name), lambda _: None)
    desk.run()
    assert found == {"a": "a", "b": "malformed", "c": "c"}


@define(eq=False, kw_only=True)
class Plain(Stage):
    """Watches nothing."""

    def do(self, number: int, do: Callable[[], object]) -> None:
        self._at_once.append((number, outcome_of(do)))


# ------------------------------------------------------------ what takes too long


@pytest.mark.parametrize(
    ("left_at", "reported_at"),
    [
        pytest.param(NOW + 10, NOW + LOOK_AGAIN, id="before it is looked at for the first time"),
        pytest.param(NOW + LOOK_AGAIN, NOW + LOOK_AGAIN, id="just then"),
        pytest.param(NOW + 31 * SECOND, NOW + 31 * SECOND, id="later"),
    ],
)
def test_what_takes_too_long_is_left_behind_at_its_instant(left_at: Millis, reported_at: Millis) -> None:
    reported: list[Millis] = []

    def course() -> Course:
        try:
            yield Apart(lambda: None, left_at=lambda: left_at)
        except TookTooLong:
            reported.append(stage.clock.now())

    desk, stage = desk_of(workers=Waiting(begun=[]))
    desk.begin(course(), lambda _: None)
    desk.run()
    assert reported == [reported_at]
    assert stage.left_behind == 1


def test_what_has_no_deadline_yet_is_looked_at_again() -> None:
    """The attempt begins when it was asked whether it may, and that takes as long as it does."""
    looks: list[Millis] = []

    def left_at() -> Millis:
        looks.append(stage.clock.now())
        return NOW + 5 * SECOND if len(looks) > 2 else 0

    def course() -> Course:
        with pytest.raises(TookTooLong):
            yield Apart(lambda: None, left_at=left_at)

    desk, stage = desk_of(workers=Waiting(begun=[]))
    desk.begin(course(), lambda _: None)
    desk.run()
    assert looks == [NOW + SECOND, NOW + 2 * SECOND, NOW + 3 * SECOND, NOW + 5 * SECOND]


def test_what_ended_in_time_has_not_taken_too_long_however_late_the_leader_hears_of_it() -> None:
    """A small function lets its threads run one after the other: the leader may come last."""
    found: list[Any] = []

    def course() -> Course:
        found.append((yield Apart(lambda: "done", left_at=lambda: NOW + SECOND)))

    desk, stage = desk_of(workers=Starved())
    desk.begin(course(), found.append)
    desk.run()
    assert found == ["done", None]
    assert stage.left_behind == 0


@define(eq=False, kw_only=True)
class Starved(Stage):
    """Whatever is begun has ended when its leader comes to itself, two seconds later."""

    def start(self, number: int, do: Callable[[], object]) -> None:
        self._at_once.append((number, outcome_of(do)))
        self.clock.move(2 * SECOND)

    def leave_behind(self, number: int) -> None:
        self._at_once = [one for one in self._at_once if one[0] != number]
        self.left_behind += 1


# ------------------------------------------------------------ whoever waits for nothing, or for a target


def test_an_idle_course_keeps_nobody() -> None:
    looks: list[Millis] = []

    def idle() -> Course:
        while True:
            yield Until(stage.clock.now() + 2, is_idle=True)
            looks.append(stage.clock.now())
            yield Apart(lambda: None)

    def busy() -> Course:
        yield Until(NOW + 5)

    desk, stage = desk_of()
    desk.begin(idle(), lambda _: pytest.fail("nobody waits for its end"))
    assert desk.number == 0
    desk.run()
    assert (stage.clock.now(), looks) == (NOW, []), "nothing is under way"
    desk.begin(busy(), lambda _: None)
    assert desk.number == 1
    desk.run()
    assert looks[0] == NOW + 2
    assert desk.number == 0
    assert stage.clock.now() <= NOW + 6, "only what it does apart is waited for"


def test_what_an_idle_course_has_begun_is_brought_to_its_end() -> None:
    """Lambda freezes a function that has answered."""
    heard: list[str] = []

    def idle() -> Course:
        yield Until(NOW + 1, is_idle=True)
        desk.begin(busy("begun beside"), heard.append)
        heard.append((yield Apart(lambda: "apart")))
        yield Until(NOW + SECOND, is_idle=True)
        heard.append("never")

    def busy(name: str) -> Course:
        yield Until(stage.clock.now() + 2)
        return name

    desk, stage = desk_of()
    desk.begin(idle(), lambda _: None)
    desk.begin(busy("the batch"), heard.append)
    desk.run()
    assert sorted(heard) == ["apart", "begun beside", "the batch"]
    assert stage.clock.now() < NOW + SECOND


def test_how_long_the_one_that_has_waited_longest_is_at_its_target() -> None:
    """Or before its turn at one; neither a sleep nor a service of AWS counts."""
    kept: list[Millis] = []

    def looks() -> Course:
        for _ in range(5):
            yield Until(stage.clock.now() + 100)
            kept.append(desk.kept())

    def others() -> Course:
        yield Until(NOW + 150)
        yield Until(NOW + 350, kept_since=NOW + 140)
        yield Apart(lambda: None)

    desk, stage = desk_of(workers=Waiting(begun=[]))
    desk.begin(looks(), lambda _: None)
    desk.begin(others(), lambda _: None)
    stage.requests.append([])  # what is done apart ends
    stage.requests.clear()
    desk.run()
    assert kept == [0, 60, 160, 0, 0]


# ------------------------------------------------------------ a function that dies


def raising(error: BaseException) -> Callable[..., Any]:
    def do(*_: Any) -> Any:
        raise error

    return do


@pytest.mark.parametrize("others", [False, True], ids=["in its thread", "apart"])
@pytest.mark.parametrize("wish", [Ask("a"), Apart(raising(Crash("died")))], ids=["a request", "a thing done apart"])
def test_what_a_function_dies_of_goes_up(wish: Ask | Apart, others: bool) -> None:
    def course() -> Course:
        with pytest.raises(Crash):
            yield wish
        raise Crash("died")

    def other() -> Course:
        yield Until(NOW + SECOND)

    desk, _ = desk_of(ask=SharedRequest(do=raising(Crash("died"))), workers=Plain())
    desk.begin(course(), lambda _: None)
    if others:
        desk.begin(other(), lambda _: None)
    with pytest.raises(Crash):
        desk.run()
