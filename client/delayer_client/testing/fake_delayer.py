"""A Delayer in memory, for the tests of those who use one."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

from delayer.http.answers import Response, unavailable
from delayer.http.requests import ANONYMOUS, ApiRequest
from delayer.schedule.instants import SECOND, Millis
from delayer_client import AsyncDelayer, Delayer, Nothing
from delayer_client.testing.attempts import Answer, Answers, Attempt
from delayer_client.testing.clock import TargetRaised
from delayer_client.testing.stack import FakeStack
from delayer_client.testing.targets import datetime_of
from delayer_client.testing.transport import FakeTransport

URL: Final = "http://delayer.fake"
START: Final = datetime(2027, 1, 4, 9, 0, tzinfo=UTC)  # a Monday
NO_ACTIONS: Final[Mapping[str, Mapping[str, Any]]] = {}
SUCCEEDS: Final = Answer.http(200)


def succeeds(_attempt: Attempt) -> Answer:
    """How targets answer if a test says nothing."""
    return SUCCEEDS


class FakeDelayer:
    """Delayer in memory, with a clock that is moved by hand: its own functions, without AWS, network or waiting.

        with FakeDelayer() as fake:
            delayer = fake.client()
            schedule = delayer.schedule(HttpRequest(url="https://example.com/hook"), delay=timedelta(minutes=5))
            fake.advance(timedelta(minutes=5))
            assert [one.schedule_id for one in fake.handed_over] == [schedule.id]

    `start` is where its clock begins; `owner` is who calls, if a call names nobody. `actions` are the types of other
    stacks, each with the JSON Schema of its fields, as `GET /actions` of a stack shows it.
    """

    def __init__(
        self, *, start: datetime = START, owner: str = "", actions: Mapping[str, Mapping[str, Any]] = NO_ACTIONS
    ) -> None:
        self._lock = Lock()  # what answers for a target may call the fake, from any thread: it is free meanwhile
        self._is_settling = False
        self._answers: Answers = succeeds
        self._next_answers: deque[Answer] = deque()
        self._faults = 0  # so many of the next calls are answered 503
        self._is_down = False
        self._stack = FakeStack(start=instant_of(start), answers=self._asked)
        self._owner = owner
        for kind, schema in actions.items():
            self._stack.register(kind, schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left open: it is a context manager so that a test can say where it ends."""

    # ------------------------------------------------------------ how it is called

    @cached_property
    def transport(self) -> FakeTransport:
        """For httpx: `httpx.Client(transport=fake.transport, base_url=fake.url)`, and the same for AsyncClient."""
        return FakeTransport(self._call, self._owner)

    @property
    def url(self) -> str:
        """Where it seems to be. Nothing is ever looked up."""
        return URL

    def client(self, **settings: Any) -> Delayer:
        """A client of it; `settings` are those of Delayer. While it waits, the clock of the fake goes on."""
        return Delayer(self.url, **{**self._settings, "sleep": self._slept, **settings})

    def async_client(self, **settings: Any) -> AsyncDelayer:
        """The same, for asyncio."""

        async def slept(seconds: float) -> None:
            self._slept(seconds)

        return AsyncDelayer(self.url, **{**self._settings, "sleep": slept, **settings})

    @property
    def _settings(self) -> dict[str, Any]:
        """Nothing of the environment counts here."""
        return {
            "transport": self.transport,
            "credentials": Nothing(),
            "owner": self._owner or ANONYMOUS,
            "now": lambda: self.now,
        }

    def _slept(self, seconds: float) -> None:
        """An attempt takes no time: what answers for a target repeats its calls at once."""
        if not self._is_settling:
            self.advance(timedelta(seconds=seconds))

    # ------------------------------------------------------------ time

    @property
    def now(self) -> datetime:
        """The time of its clock, in UTC."""
        return datetime_of(self._stack.clock.now())

    def advance(self, by: timedelta) -> None:
        """Moves the clock on, and lets all happen that falls due meanwhile, in order and each at its own time."""
        if by < timedelta(0):
            raise ValueError(f"{by}: the clock of a FakeDelayer is never set back")
        self.advance_to(self.now + by)

    def advance_to(self, moment: datetime) -> None:
        """The same, up to a moment."""
        until = instant_of(moment)
        if until < self._stack.clock.now():
            raise ValueError(f"{moment.isoformat()}: it is {self.now.isoformat()}, and the clock is never set back")
        with self._lock, self._settling() as is_first:
            if not is_first:
                raise RuntimeError("what answers for a target cannot move the clock: an attempt takes no time here")
            self._stack.run_until(until)

    def advance_to_next(self) -> datetime | None:
        """Moves the clock to the next moment at which something happens; None if nothing will."""
        following = self._stack.next_at()
        if following is not None:
            self.advance_to(datetime_of(following))
        return None if following is None else self.now

    # ------------------------------------------------------------ targets

    @property
    def handed_over(self) -> Sequence[Attempt]:
        """All attempts that were made, in order."""
        return tuple(self._stack.targets.reached)

    def answer(self, answers: Answers | Answer) -> None:
        """How targets answer from now on: always the same, or as a function of the attempt says.

        What the function raises, an assertion that fails, is raised where the test moves the clock or makes its call.
        """
        self._answers = answers if callable(answers) else lambda _attempt: answers

    def answer_next(self, *answers: Answer) -> None:
        """How the next attempts are answered, one after the other. After them it is as before."""
        self._next_answers.extend(answers)

    def _asked(self, attempt: Attempt) -> Answer:
        if self._next_answers:
            return self._next_answers.popleft()
        self._lock.release()
        try:
            return self._answers(attempt)
        except Exception as error:
            raise TargetRaised(error) from error
        finally:
            self._lock.acquire()

    # ------------------------------------------------------------ what goes wrong

    def fail_next(self, calls: int = 1) -> None:
        """The next calls are answered 503, and nothing is done."""
        self._faults += calls

    @contextmanager
    def down(self) -> Iterator[None]:
        """While it lasts, each call is answered 503, and nothing is done. What was accepted is handed over."""
        self._is_down = True
        try:
            yield
        finally:
            self._is_down = False

    # ------------------------------------------------------------ behind the gateway

    def _call(self, function: str, request: ApiRequest) -> Response:
        with self._lock:
            if self._is_unavailable():
                return unavailable()
            made = self._stack.call(function, request)
            with self._settling() as is_first:
                if is_first:  # who calls from within an attempt finds that the rest happens after it
                    self._stack.settle()
            return made

    def _is_unavailable(self) -> bool:
        if self._faults:
            self._faults -= 1
            return True
        return self._is_down

    @contextmanager
    def _settling(self) -> Iterator[bool]:
        is_first, self._is_settling = not self._is_settling, True
        try:
            yield is_first
        except TargetRaised as raised:
            raise raised.error from None
        finally:
            self._is_settling = not is_first


def instant_of(moment: datetime) -> Millis:
    """Raises ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone: say datetime(…, tzinfo=UTC)")
    return round(moment.timestamp() * SECOND)
