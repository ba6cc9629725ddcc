"""Clients, operators and vandals. A client that gets no clear answer asks again, a few times."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from delayer.core.admission import admit
from delayer.core.enqueueing import Garbled
from delayer.core.instants import MINUTE, SECOND
from delayer.core.lifecycle import State
from delayer.core.request import Invalid
from delayer.core.schedule import Schedule
from delayer.core.withdrawing import Expired, TooLate
from delayer.fakes.faults import Crash
from delayer.ports import Outgoing, RecordKey, Unavailable
from delayer.use_cases.accept import Accepted
from delayer.use_cases.cancel import Cancelled
from delayer.use_cases.enqueue import key_of
from delayer.use_cases.operate import Impossible
from delayer.use_cases.replace import OnItsWay, Replaced
from tests.simulation.plan import Act, Do
from tests.world import ACTION

if TYPE_CHECKING:
    from tests.simulation.stack import Stack

OWNER = "owner"
TRIES = 4


@define(eq=False)
class People:
    """All of them."""

    stack: "Stack"
    ids: dict[int, str] = field(factory=dict)  # the schedule that a subject is, by its number
    _in_hand: set[str] = field(factory=set)  # keys whose command was not answered yet
    _backups: dict[str, bytes] = field(factory=dict)  # what an operator may have copied from the store

    def __attrs_post_init__(self) -> None:
        self.stack.watch.on_kept = self._look_at_once

    def act(self, act: Act) -> None:
        """Somebody does something."""
        {
            Do.POST: self._post,
            Do.CANCEL: self._cancel,
            Do.PATCH: self._patch,
            Do.NAME: self._name,
            Do.RENAME: self._name,
            Do.CANCEL_LATER: self._cancel,
            Do.VANDAL: self._vandal,
            Do.GARBAGE: self._garbage,
            Do.NOISE: self._noise,
        }[act.do](act)

    # ------------------------------------------------------------ clients

    def _ask(self, function: str, use: Callable[[], Any], told: Callable[[Any], None], tries: int = TRIES) -> None:
        """Calls the API; a 5xx is asked again, with a pause."""

        def answered(outcome: Any) -> None:
            if isinstance(outcome, Invalid):
                self.stack.tell("client", "is told that this point in time is over")
            elif not isinstance(outcome, BaseException):
                told(outcome)
            elif tries > 1:
                pause = self.stack.chance.whole(f"{function} again", 200, 20 * SECOND)
                self.stack.kernel.at(self.stack.kernel.now + pause, lambda: self._ask(function, use, told, tries - 1))

        self.stack.start(function, use, answered)

    def _body(self, act: Act) -> bytes:
        action = {**ACTION, "maxAttempts": act.attempts}
        return json.dumps({"pointInTime": act.due / 1000, "action": action, "payload": act.subject}).encode()

    def _post(self, act: Act) -> None:
        self._ask("accept", lambda: self.stack.accept(self._body(act), OWNER), lambda one: self._was_accepted(act, one))

    def _was_accepted(self, act: Act, answer: Any) -> None:
        if isinstance(answer, Accepted):
            self._has(act, self.stack.stored(answer.schedule_id))
        else:
            self.stack.watch.unexpected(AssertionError(f"a POST was answered {answer}"))

    def _has(self, act: Act, schedule: Schedule) -> None:
        name = self.stack.watch.name(schedule.id)
        self.ids[act.subject] = schedule.id
        self.stack.watch.accepted[schedule.id] = schedule
        self.stack.watch.accepted_at[schedule.id] = self.stack.kernel.now
        self.stack.tell("client", f"has {name}, due {schedule.point_in_time - self.stack.kernel.now} ms from now")

    def _cancel(self, act: Act) -> None:
        if schedule_id := self.ids.get(act.subject):
            self.stack.tell("client", f"cancels {self.stack.watch.name(schedule_id)}")
            self.stack.watch.asked.add(schedule_id)
            self._ask(
                "cancel",
                lambda: self.stack.cancel(schedule_id, OWNER),
                lambda answer: self._was_cancelled(schedule_id, answer),
            )

    def _was_cancelled(self, schedule_id: str, answer: Any) -> None:
        watch = self.stack.watch
        self.stack.tell("client", f"is told of {watch.name(schedule_id)}: {type(answer).__name__}")
        match answer:
            case Cancelled():
                watch.withdraw(schedule_id)
            case TooLate(row):
                watch.told_too_late(row)
                if row.state is not State.REPLACED:
                    watch.refused[schedule_id] = row
            case Expired():
                watch.told_too_old(schedule_id)
            case _:
                watch.unexpected(AssertionError(f"a cancel was answered {answer}"))

    def _patch(self, act: Act) -> None:
        if schedule_id := self.ids.get(act.subject):
            self.stack.tell("client", f"moves {self.stack.watch.name(schedule_id)}")
            self.stack.watch.asked.add(schedule_id)
            self._ask(
                "replace",
                lambda: self.stack.replace.by_id(schedule_id, OWNER, point_in_time=act.due, payload=None),
                lambda answer: self._was_replaced(act, schedule_id, answer),
            )

    def _name(self, act: Act) -> None:
        self.stack.watch.asked_names.add(_name_of(act))

        def use() -> Any:
            request = admit(self._body(act), self.stack.kernel.now)
            return self.stack.replace.by_name(request, OWNER, _name_of(act))

        self._ask(
            "replace",
            use,
            lambda answer: self._was_replaced(act, getattr(answer, "previous", None), answer),
        )

    def _was_replaced(self, act: Act, old: str | None, answer: Any) -> None:
        watch = self.stack.watch
        if isinstance(answer, Replaced):
            self._has(act, answer.schedule)
            if old:
                self.stack.tell("client", f"is told that it takes the place of {watch.name(old)}")
                watch.withdraw(old)
        else:
            self.stack.tell("client", f"is told: {type(answer).__name__}")
        match answer:
            case TooLate(row):
                watch.told_too_late(row)
            case Expired() if old:
                watch.told_too_old(old)
            case OnItsWay() if old:
                watch.told_on_its_way(old)

    # ------------------------------------------------------------ whoever should not

    def _vandal(self, act: Act) -> None:
        """An operator deletes a record in the console."""
        schedule = self.stack.watch.accepted.get(self.ids.get(act.subject, ""))
        if schedule and key_of(schedule) in self.stack.table.rows:
            self.stack.watch.struck.add(schedule.id)
            self.stack.tell("operator", f"deletes the record of {self.stack.watch.name(schedule.id)} by hand")
            self.stack.table.delete([key_of(schedule)])

    def _garbage(self, act: Act) -> None:
        key = RecordKey(bucket="nonsense", due=str(act.at))
        self.stack.table.write(key, Garbled("no such field"))
        self.stack.table.delete([key])

    def _noise(self, act: Act) -> None:
        for queue in (self.stack.delayer_queue, self.stack.http_queue, self.stack.sweep_queue):
            queue.send([Outgoing("{not json")])

    # ------------------------------------------------------------ the operator

    def look_after(self) -> None:
        """Every so often an operator puts back what is kept, or throws it away."""
        chance, stack = self.stack.chance, self.stack
        self._backups |= stack.store.objects
        for key in sorted(stack.store.objects.keys() - self._in_hand):
            gave_up = chance.calm and key.startswith("aws/")  # its schedules have no end yet: an operator must act
            if gave_up or chance.surprise("operator", stack.weather.operator):
                self._operate(key, throw_away=not gave_up and chance.part("operator throws away") < 0.15)
        stack.kernel.at(stack.kernel.now + chance.whole("operator again", MINUTE, 20 * MINUTE), self.look_after)

    def _look_at_once(self, key: str) -> None:
        """An operator has an alarm, and is quick: whoever keeps this body is still at it."""
        chance, kernel = self.stack.chance, self.stack.kernel
        if key in self._in_hand or not chance.surprise("operator at once", 0.25 * self.stack.weather.operator):
            return

        def put_back() -> None:
            if key in self.stack.store.objects and key not in self._in_hand:
                self._operate(key, throw_away=False)

        kernel.at(kernel.now + chance.whole("operator how soon", 0, 25), put_back)

    def _operate(self, key: str, *, throw_away: bool) -> None:
        use = self.stack.operate.throw_away if throw_away else self.stack.operate.put_back
        if throw_away:
            self.stack.watch.thrown_away |= self.stack.watch.ids_in(key)
        self.stack.tell("operator", f"{'throws away' if throw_away else 'puts back'} {self._named(key)}")

        self._in_hand.add(key)

        def told(answer: Any) -> None:
            if isinstance(answer, Crash | Unavailable):
                self.stack.kernel.at(self.stack.kernel.now + 5 * MINUTE, again)
                return
            self._in_hand.discard(key)
            if isinstance(answer, Impossible):
                self.stack.tell("operator", f"is told: {answer}")

        def again() -> None:
            """A command that failed is repeated until it is answered, or there is nothing left to do."""
            if key in self.stack.store.objects:
                self.stack.start("operate", lambda: use(key), told)
            else:
                self._in_hand.discard(key)

        self.stack.start("operate", lambda: use(key), told)

    def _named(self, key: str) -> str:
        found = self.stack.contents(self.stack.store.objects[key]).messages
        return ", ".join(self.stack.watch.name(message.id) for message in found) or "what nobody can read"

    def restore(self) -> None:
        """Backups are restored: objects of the store that were put back long ago, and records of the table."""
        for key, content in self._backups.items():
            self.stack.store.objects.setdefault(key, content)
            self._operate(key, throw_away=False)
        for schedule in self.stack.watch.accepted.values():
            self.stack.watch.struck.add(schedule.id)
            self.stack.tell("operator", f"restores the record of {self.stack.watch.name(schedule.id)}")
            self.stack.table.put(schedule)


def _name_of(act: Act) -> str:
    return f"name-{act.subject}"
