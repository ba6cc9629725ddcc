"""Makes one attempt in a process of its own: `python -m delayer.serve.suspects.suspect` (ADR 0190).

The process opens no database. It is given the message and the settings on standard input, and asks its parent for what
an executor reads and writes: rows, and the secrets of connections. It says when it is ready, is told to begin, and
answers with the result. It ends when its parent does.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum, auto
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import IO, Any, Final

from attrs import field, frozen

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Result, Retry
from delayer.engines.ports import Unavailable
from delayer.schedule.messages import ExecutorMessage
from delayer.serve.suspects.lives import ChildDied, described, judged
from delayer.serve.turns.parts import Chosen

MODULE: Final = "delayer.serve.suspects.suspect"
TO_BEGIN: Final = 30.0  # seconds, until a child must be ready
GRACE: Final = 2.0  # seconds: a target that ends its calls itself does so before
EXECUTOR: Final = "executor-"  # the name of a function begins so
BETWEEN: Final = 1.0  # second between two children
ASKED_OF_THE_PARENT: Final = ("items", "secrets", "seal", "observer")  # ports
# Somebody has ended it: that is no proof against its message.
ENDED_BY_SOMEBODY: Final = frozenset({-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP})
OOM: Final = "/proc/self/oom_score_adj"  # of Linux
FIRST_TO_GO: Final = "1000"


@frozen(kw_only=True)
class SuspectOrder:
    """Everything that a child is given."""

    kind: str
    message: ExecutorMessage
    settings: Mapping[str, str]  # the variables that functions read
    chosen: Chosen
    file: Path | None = None  # of the action, if it is of a folder of --actions


class Cue(Enum):
    """The words between the two."""

    READY = auto()  # all is loaded: what happens from now on is the message's doing
    BEGIN = auto()


@frozen(kw_only=True)
class PortQuestion:
    """A child asks for a method of a port."""

    port: str
    method: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


@frozen(kw_only=True)
class PortAnswer:
    """Has what it has returned or raised."""

    value: Any = None
    error: Exception | None = None


@frozen(kw_only=True)
class AttemptOutcome:
    """The result of the attempt, or NotAttempted, and why."""

    result: Result | None
    reason: str = ""


@frozen(kw_only=True, eq=False)
class Pipe:
    """Both directions. Only a parent and its own child speak over it: both run the same code, with the same rights."""

    source: IO[bytes]
    sink: IO[bytes]

    def send(self, thing: object) -> None:
        """Raises OSError if nobody is there."""
        self.sink.write(pickle.dumps(thing))
        self.sink.flush()

    def receive(self) -> Any:
        """Raises EOFError if nobody is there."""
        return pickle.load(self.source)  # noqa: S301 - of our own process


# ------------------------------------------------------------ the parent


@frozen(kw_only=True, eq=False)
class Children:
    """Makes attempts in child processes, in the place of an executor's target."""

    ports: Mapping[str, Any]  # ASKED_OF_THE_PARENT
    settings: Mapping[str, str]
    chosen: Chosen
    files: Mapping[str, Path] = field(factory=dict)  # of actions of folders, by the names of their functions
    command: tuple[str, ...] = (sys.executable, "-m", MODULE)
    pause: Callable[[float], object] = time.sleep

    def __call__(self, kind: str, message: ExecutorMessage, seconds: float) -> Result:
        """One attempt, in as many children as it kills. Raises NotAttempted, Malformed."""
        file = self.files.get(EXECUTOR + kind)
        order = SuspectOrder(kind=kind, message=message, settings=self.settings, chosen=self.chosen, file=file)
        runs = count()

        def run() -> Result | ChildDied:
            if next(runs):
                self.pause(BETWEEN)
            return self.run(order, seconds)

        return judged(run)

    def run(self, order: SuspectOrder, seconds: float) -> Result | ChildDied:
        """In one child. Raises NotAttempted if it could not begin, or was ended by somebody."""
        child = ChildProcess(order, self.command)
        try:
            return child.attempt(seconds, self._answer)
        finally:
            child.end()

    def _answer(self, asked: PortQuestion) -> PortAnswer:
        if asked.port not in ASKED_OF_THE_PARENT:
            return PortAnswer(error=Unavailable(f"a suspect has no port {asked.port}"))
        try:
            value = getattr(self.ports[asked.port], asked.method)(*asked.arguments, **asked.named)
            return PortAnswer(value=value)
        except Exception as error:  # noqa: BLE001 - it is raised in the child
            return PortAnswer(error=sendable(error))


def sendable(error: Exception) -> Exception:
    """The error, if it can be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own
    except Exception:  # noqa: BLE001 - some exceptions cannot be made again of their arguments
        return Unavailable(type(error).__name__)  # its text may hold what a client sent
    return error


class ChildProcess:
    """One process."""

    def __init__(self, order: SuspectOrder, command: tuple[str, ...]) -> None:
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
                start_new_session=True,  # a Ctrl-C is for the engine
            )
        except OSError as error:
            raise NotAttempted(f"no process for it: {error}") from error
        assert self.process.stdin
        assert self.process.stdout
        self.pipe = Pipe(source=self.process.stdout, sink=self.process.stdin)
        self._order = order
        self._is_late = False

    def attempt(self, seconds: float, answer: Callable[[PortQuestion], PortAnswer]) -> Result | ChildDied:
        """Raises NotAttempted."""
        self.begin()
        timer = self._timer(seconds + GRACE) if seconds else None
        try:
            self.pipe.send(Cue.BEGIN)
            while isinstance(asked := self.pipe.receive(), PortQuestion):
                self.pipe.send(answer(asked))
            outcome: AttemptOutcome = asked
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._without_outcome(seconds)
        finally:
            if timer:
                timer.cancel()
        if outcome.result is None:
            raise NotAttempted(outcome.reason)
        return outcome.result

    def begin(self) -> None:
        """All is loaded. Raises NotAttempted."""
        timer = self._timer(TO_BEGIN)
        try:
            self.pipe.send(self._order)
            if self.pipe.receive() is Cue.READY:
                return
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        finally:
            timer.cancel()
        raise NotAttempted(f"a process for it could not begin: {described(self._status())}")

    def _without_outcome(self, seconds: float) -> Result | ChildDied:
        status = self._status()
        if self._is_late:
            return Retry(detail=f"it took longer than {seconds:g} s", is_outage=True)
        if status in ENDED_BY_SOMEBODY:
            raise NotAttempted(f"somebody has ended its process: {described(status)}")
        return ChildDied(described(status))

    def _timer(self, seconds: float) -> Timer:
        timer = Timer(seconds, self._too_late)
        timer.daemon = True
        timer.start()
        return timer

    def _too_late(self) -> None:
        self._is_late = True
        self._kill()

    def _kill(self) -> None:
        with suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with what it has started

    def _status(self) -> int:
        """It has closed its pipe: it has ended, or will at once."""
        try:
            return self.process.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            return 0

    def end(self) -> None:
        """Ends it, whatever it does. Its number is not given to another process before it is waited for."""
        if self.process.poll() is None:
            self._kill()
        self.process.wait()
        for one in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                one.close()  # type: ignore[union-attr] # both are pipes


# ------------------------------------------------------------ the child


class ParentProcess:
    """Asks the parent, from a child."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._heard: SimpleQueue[Any] = SimpleQueue()
        self._lock = Lock()  # an attempt may have threads
        Thread(target=self._hear, daemon=True).start()

    def _hear(self) -> None:
        """Also while the attempt is made: if the parent ends, so does the child."""
        try:
            while True:
                self._heard.put(self._pipe.receive())
        except (EOFError, OSError):
            os._exit(0)

    def next_word(self) -> Any:
        """The next thing that it says."""
        return self._heard.get()

    def say(self, thing: object) -> None:
        """Raises OSError."""
        with self._lock:
            self._pipe.send(thing)

    def ask(self, port: str, method: str, *arguments: Any, **named: Any) -> Any:
        """Raises what the port raises."""
        with self._lock:
            self._pipe.send(PortQuestion(port=port, method=method, arguments=arguments, named=named))
            answered: PortAnswer = self.next_word()
        if answered.error:
            raise answered.error
        return answered.value


class ParentPort:
    """A port of the parent's."""

    def __init__(self, parent: ParentProcess, port: str) -> None:
        self._parent, self._port = parent, port

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_"):
            raise AttributeError(method)
        return partial(self._parent.ask, self._port, method)

    def observed(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        """As an observer's: nothing is flushed."""
        return handler


@frozen(kw_only=True, eq=False, slots=False)
class SuspectStack:
    """Stands in for a machine: it has the ports of one executor."""

    parent: ParentProcess
    order: SuspectOrder

    @cached_property
    def observer(self) -> Any:
        """That of the parent."""
        return ParentPort(self.parent, "observer")

    def ports(self, function: str) -> Any:
        """Of the parent, but for time and chance."""
        import secrets

        from delayer.engines.process import InOrder, SystemClock, random_token
        from delayer.serve.data.signing_rows import SealedSigningRows
        from delayer.serve.turns.parts import settings_of
        from delayer.wiring.bundle import Bundle

        ports, new_id = Bundle(), partial(secrets.token_hex, 16)
        settings = settings_of(self.order.chosen)
        asked = {one: ParentPort(self.parent, one) for one in ASKED_OF_THE_PARENT}
        ports.__dict__.update(
            asked,
            fail_fast_items=asked["items"],
            source=function,
            signing_rows=SealedSigningRows(store=asked["items"], table=settings.control_table, seal=asked["seal"]),
            settings=settings,
            clock=SystemClock(),
            parallel=InOrder(),
            randomness=secrets.token_bytes,
            pick=secrets.randbelow,
            new_token=random_token,
            new_job_id=new_id,
            new_series_id=new_id,
        )
        return ports


def handler_of(order: SuspectOrder, stack: SuspectStack) -> Any:
    """The function of its action: one of Delayer's own, or one of a folder of --actions."""
    if order.file:
        from delayer.serve.beside.extensions import loaded_from

        return loaded_from(EXECUTOR + order.kind, order.file).handler
    from delayer.serve.turns.machine import HAVE_SETTINGS
    from delayer.wiring.functions import loaded

    instead = {one: {"setting": order.settings.__getitem__} for one in HAVE_SETTINGS}
    return loaded(EXECUTOR + order.kind, stack, order.settings, instead).handler


def main() -> None:
    """The attempt of one message. Nothing that it prints is taken for an answer."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(OSError):  # for want of memory, the system should not end the engine
        Path(OOM).write_text(FIRST_TO_GO)
    parent = ParentProcess(Pipe(source=os.fdopen(os.dup(0), "rb"), sink=sink))
    order: SuspectOrder = parent.next_word()
    from delayer.execute.execute import reached

    stack = SuspectStack(parent=parent, order=order)
    handler = handler_of(order, stack)
    handler.ports = stack.ports(EXECUTOR + order.kind)
    parent.say(Cue.READY)
    parent.next_word()
    try:
        outcome = AttemptOutcome(result=reached(handler.target, order.message, stack.observer))
    except NotAttempted as error:
        outcome = AttemptOutcome(result=None, reason=str(error))
    parent.say(outcome)
    os._exit(0)  # whatever it has left behind


if __name__ == "__main__":
    from delayer.serve.suspects import suspect  # what is pickled must have the name by which its reader finds it

    suspect.main()
