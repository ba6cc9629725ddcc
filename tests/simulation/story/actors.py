"""Clients, operators and vandals. A client that gets no clear answer asks again, a few times."""

import json
from collections.abc import Callable, Set
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import define, field

from delayer.accept.ports import RequestRow
from delayer.accept.rules.admission import admit
from delayer.accept.rules.request import KeyReused
from delayer.accept.rules.status import Expired, MayBeRunning, NameTaken, OnItsWay, TooEarly, TooLate
from delayer.accept.use_cases.accept import Accepted
from delayer.accept.use_cases.cancel import Cancelled, Stopped
from delayer.accept.use_cases.once import Call, KnownKey
from delayer.accept.use_cases.replace import Replaced
from delayer.actions.rules.foreign import built_in
from delayer.dead_letters.redrive import Impossible
from delayer.engines.ports import Outgoing, Unavailable
from delayer.flow.commands import OperateLimits
from delayer.flow.rules.block import Block
from delayer.flow.words import suspended
from delayer.http.problem import Invalid
from delayer.ledger.model import State
from delayer.records.repository import key_item
from delayer.schedule.instants import MINUTE, SECOND
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import RecordKey, is_undecided, key_of
from delayer.wiring.build import build
from tests.fakes.faults import Crash
from tests.looking import put_item
from tests.simulation.story.plan import PARTIES, Act, Do, Wishes, name_of
from tests.simulation.story.series_actors import SeriesActors
from tests.simulation.story.series_plan import SeriesAct
from tests.world import ACTION

if TYPE_CHECKING:
    from tests.simulation.system.stack import Stack

OWNER = "owner"
TRIES = 4


@define(eq=False)
class Actors:
    """All of them."""

    stack: "Stack"
    series: SeriesActors = field(init=False)
    ids: dict[int, str] = field(factory=dict)  # the schedule that a subject is, by its number
    _payloads: dict[int, str] = field(factory=dict)  # that of each
    _changed: dict[str, str] = field(factory=dict)  # the id that a PATCH was asked for, by its key
    _in_hand: set[str] = field(factory=set)  # keys whose command was not answered yet
    _backups: dict[str, bytes] = field(factory=dict)  # what an operator may have copied from the store

    def __attrs_post_init__(self) -> None:
        self.series = SeriesActors(self)
        self.stack.watch.on_dead_letter = self._look_at_once
        self.stack.watch.on_claim_or_end = self._stop_at_once

    def act(self, act: Act) -> None:
        """Somebody does something."""
        if isinstance(act, SeriesAct):
            self.series.act(act)
            return
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
            Do.STOP: self._stop,
            Do.POST_AGAIN: self._post,
            Do.OTHER_BODY: self._post,
            Do.NAMESAKE: self._post,
            Do.CANCEL_GROUP: self._cancel_group,
            Do.SUSPEND: self._suspend,
            Do.CLOSE: self._close,
            Do.LIMIT: self._limit,
        }[act.do](act)

    # ------------------------------------------------------------ clients

    def ask(self, function: str, use: Callable[[], Any], on_answer: Callable[[Any], None], tries: int = TRIES) -> None:
        """Calls the API; a 5xx is asked again, with a pause."""

        def answered(outcome: Any) -> None:
            if isinstance(outcome, Invalid):
                self.stack.log("client", "is answered that this point in time is over")
            elif not isinstance(outcome, BaseException):
                on_answer(outcome)
            elif tries > 1:
                pause = self.stack.chance.whole(f"{function} again", 200, 20 * SECOND)
                again = partial(self.ask, function, use, on_answer, tries - 1)
                self.stack.kernel.at(self.stack.kernel.now + pause, again)

        self.stack.start(function, use, answered)

    def _body(self, act: Act) -> bytes:
        retry: dict[str, Any] = {"maxAttempts": act.attempts}
        if patience := act.patience:
            backoff = {"first": patience.first, "factor": patience.factor, "max": patience.longest}
            retry |= {"maxAgeSeconds": patience.age, "backoff": backoff}
        wishes = act.wishes
        action = {**ACTION, "url": f"http://{wishes.host}/"}
        body = {"pointInTime": act.due / 1000, "action": action, "payload": json.loads(payload_of(act)), "retry": retry}
        if wishes.within:
            body["when"] = {"policy": "spread", "seconds": wishes.within}
            del body["pointInTime"]
        body |= {"precision": "relaxed"} if wishes.relaxed else {}
        body |= {"name": wishes.name} if wishes.name else {}
        body |= {"group": wishes.group} if wishes.group else {}
        body |= {"onLate": {"after": f"PT{wishes.drop_after}S", "do": "drop"}} if wishes.drop_after else {}
        return json.dumps(body).encode()

    def _post(self, act: Act) -> None:
        self.ask(
            "accept",
            lambda: self.stack.accept(self._body(act), OWNER, act.wishes.key),
            lambda one: self._was_accepted(act, one),
        )

    def _was_accepted(self, act: Act, answer: Any) -> None:
        watch, key = self.stack.watch, act.wishes.key
        match answer:
            case Accepted(schedule_id=schedule_id) if key in watch.keys.answered:
                self.stack.log("client", f"is answered that it has {watch.name(schedule_id)}")
                watch.keys.answered_again(key, schedule_id, payload_of(act))
            case Accepted(schedule_id=schedule_id):
                self._has(act, self.stack.stored(schedule_id))
                if key:
                    watch.keys.answered[key] = (schedule_id, payload_of(act))
            case NameTaken(schedule_id) if act.wishes.name:
                self.stack.log("client", f"is answered that {watch.name(schedule_id)} has this name")
                watch.answered_name_taken(schedule_id)
            case KeyReused() if key:
                self.stack.log("client", "is answered that it has used this key for something else")
                watch.keys.answered_reused(key, payload_of(act))
            case _:
                watch.unexpected(AssertionError(f"a POST was answered {answer}"))

    def _has(self, act: Act, schedule: Schedule) -> None:
        name = self.stack.watch.name(schedule.id)
        payload = self._payloads.get(act.subject, payload_of(act)) if act.do is Do.PATCH else payload_of(act)
        self.stack.watch.answered_accepted(schedule, act.due, payload)
        self.ids[act.subject], self._payloads[act.subject] = schedule.id, payload
        if function := dict(self.stack.weather.killers).get(act.subject):
            self.stack.watch.killers[schedule.id] = function
        self.stack.watch.accepted[schedule.id] = schedule
        self.stack.watch.accepted_at[schedule.id] = self.stack.kernel.now
        self.stack.log("client", f"has {name}, due {schedule.point_in_time - self.stack.kernel.now} ms from now")

    def _stop(self, act: Act) -> None:
        if schedule_id := self.ids.get(act.subject):
            self._stop_it(schedule_id)

    def _stop_at_once(self, schedule_id: str) -> None:
        """Its owner follows the events, and is quick: whoever has claimed or ended it is still at it."""
        chance, kernel = self.stack.chance, self.stack.kernel
        if schedule_id in self.stack.watch.accepted and chance.surprise("owner at once", self.stack.weather.stops):
            soon = chance.whole("owner how soon", 0, chance.one_of("owner how fast", (25, 25, 15 * SECOND)))
            kernel.at(kernel.now + soon, lambda: self._stop_it(schedule_id))

    def _stop_it(self, schedule_id: str) -> None:
        self.stack.log("client", f"stops {self.stack.watch.name(schedule_id)}")
        self.stack.watch.stops.asked |= self.stack.watch.decisions.ids_of(schedule_id)
        self.ask(
            "stop", lambda: self.stack.stop(schedule_id, OWNER), lambda answer: self._was_stopped(schedule_id, answer)
        )

    def _was_stopped(self, schedule_id: str, answer: Any) -> None:
        watch = self.stack.watch
        self.stack.log("client", f"is answered about the stop of {watch.name(schedule_id)}: {type(answer).__name__}")
        match answer:
            case Stopped():
                watch.stops.answered_stopped(schedule_id)
            case TooEarly():
                watch.stops.answered_too_early(schedule_id)
            case TooLate(row):
                watch.answered_too_late(row)
            case Expired():
                watch.answered_too_old(schedule_id)
            case _:
                watch.unexpected(AssertionError(f"a stop was answered {answer}"))

    def _cancel_group(self, act: Act) -> None:
        watch, group = self.stack.watch, act.wishes.group
        before = self.stack.kernel.now - 2 * self.stack.weather.skew  # clocks say who joined the group later (ADR 0051)
        members = {
            one.id
            for one in watch.accepted.values()
            if one.definition.group == group and watch.accepted_at[one.id] <= before
        }
        series = {
            one
            for one, its_group in self.series.groups.items()
            if its_group == group and watch.series.seen[one].created_at <= before
        }
        watch.asked_groups.add(group)
        for one in (one for one, its_group in self.series.groups.items() if its_group == group):
            watch.series.asked_to_halt(one)
        self.stack.log("client", f"cancels the group {group}, in which it knows {len(members)} schedules")
        self.ask(
            "begin cancel group",
            lambda: self.stack.begin_cancel_group(group, OWNER),
            lambda job: self._look_at_job(job.job_id, members, series),
        )

    def _look_at_job(self, job_id: str, members: Set[str], series: Set[str]) -> None:
        """Until it says that it is finished."""
        job = self.stack.jobs.read(OWNER, job_id)
        if job and job.finished_at:
            self.stack.log("client", "sees that the group is cancelled")
            self.stack.watch.answered_group_cancelled(members)
            self.stack.watch.series.answered_group_cancelled(series)
        else:
            again = partial(self._look_at_job, job_id, members, series)
            self.stack.kernel.at(self.stack.kernel.now + MINUTE, again)

    def _cancel(self, act: Act) -> None:
        if schedule_id := self.ids.get(act.subject):
            self.cancel_it(schedule_id)

    def cancel_it(self, schedule_id: str) -> None:
        """By its id."""
        self.stack.log("client", f"cancels {self.stack.watch.name(schedule_id)}")
        self.stack.watch.asked |= self.stack.watch.decisions.ids_of(schedule_id)
        self.ask(
            "cancel",
            lambda: self.stack.cancel(schedule_id, OWNER),
            lambda answer: self._was_cancelled(schedule_id, answer),
        )

    def _was_cancelled(self, schedule_id: str, answer: Any) -> None:
        watch = self.stack.watch
        self.stack.log("client", f"is answered about {watch.name(schedule_id)}: {type(answer).__name__}")
        match answer:
            case Cancelled(row=row):
                watch.revoke(row.schedule_id)
                watch.series.answered_cancelled(schedule_id)
            case TooLate(row):
                watch.answered_too_late(row)
                if row.state is not State.REPLACED:
                    watch.refused[row.schedule_id] = row
            case Expired():
                watch.answered_too_old(schedule_id)
            case MayBeRunning():
                pass
            case _:
                watch.unexpected(AssertionError(f"a cancel was answered {answer}"))

    def _patch(self, act: Act) -> None:
        if schedule_id := self.ids.get(act.subject):
            self.move_it(act, schedule_id)

    def move_it(self, act: Act, schedule_id: str) -> None:
        """By its id."""
        key = act.wishes.key if act.do is Do.PATCH else ""
        schedule_id = self._changed.setdefault(key, schedule_id) if key else schedule_id  # a repeat asks for the same
        self.stack.log("client", f"moves {self.stack.watch.name(schedule_id)}")
        self.stack.watch.asked |= self.stack.watch.decisions.ids_of(schedule_id)
        replace, body = self.stack.replace, str(act.due).encode()
        call = Call(owner=OWNER, what=f"PATCH {schedule_id}", body=body, key=key)
        self.ask(
            "replace",
            lambda: replace.once(
                call,
                lambda known: replace.by_id(schedule_id, OWNER, point_in_time=act.due, payload=None, known=known),
            ),
            lambda answer: self._was_replaced(act, schedule_id, answer),
        )

    def _name(self, act: Act) -> None:
        self.stack.watch.asked_names.add(name_of(act.subject))

        replace, name, body = self.stack.replace, name_of(act.subject), self._body(act)
        call = Call(owner=OWNER, what=f"PUT {name}", body=body, key=act.wishes.key)

        def use(known: KnownKey) -> Any:
            return replace.by_name(admit(body, self.stack.kernel.now, built_in()), OWNER, name, known=known)

        self.ask(
            "replace",
            lambda: replace.once(call, use),
            lambda answer: self._was_replaced(act, getattr(answer, "previous", None), answer),
        )

    def _was_replaced(self, act: Act, old: str | None, answer: Any) -> None:
        watch, key = self.stack.watch, act.wishes.key if act.do is not Do.MOVE_ONE else ""
        if key and watch.keys.answered_change(key, answer):
            self.stack.log("client", "is answered as before")
        elif isinstance(answer, Replaced | RequestRow):
            self._has_replaced(act, old, answer)
        else:
            self.stack.log("client", f"is answered: {type(answer).__name__}")
        match answer:
            case TooLate(row):
                watch.answered_too_late(row)
            case Expired() if old:
                watch.answered_too_old(old)
            case OnItsWay() if old:
                watch.answered_on_its_way(old)
            case KeyReused():
                watch.unexpected(AssertionError(f"{key} was used for nothing else"))

    def _has_replaced(self, act: Act, old: str | None, answer: Replaced | RequestRow) -> None:
        """By this call, or by an earlier one with its key whose answer was lost."""
        if isinstance(answer, Replaced):
            schedule, previous = answer.schedule, answer.previous
        else:
            schedule, previous = self.stack.stored(answer.schedule_id), answer.replaces
        if act.do is not Do.MOVE_ONE:
            self._has(act, schedule)
        if old := previous or old:
            self.stack.log("client", f"is answered that it takes the place of {self.stack.watch.name(old)}")
            self.stack.watch.revoke(old)

    # ------------------------------------------------------------ whoever should not

    def _vandal(self, act: Act) -> None:
        """An operator deletes a record in the console."""
        schedule = self.stack.watch.accepted.get(self.ids.get(act.subject, ""))
        if schedule and not is_undecided(schedule.id) and self.stack.there.record(key_of(schedule.id)):
            self.stack.watch.struck.add(schedule.id)
            self.stack.log("operator", f"deletes the record of {self.stack.watch.name(schedule.id)} by hand")
            self.stack.records.delete([key_of(schedule.id)])

    def _garbage(self, act: Act) -> None:
        key = RecordKey(bucket="nonsense", due=str(act.at))
        put_item(self.stack.table, key_item(key), key_item(key))
        self.stack.table.delete([key])

    def _noise(self, act: Act) -> None:
        for queue in (self.stack.delayer_queue, self.stack.http_queue, self.stack.sweep_queue):
            queue.send([Outgoing(body="{not json")])

    # ------------------------------------------------------------ the operator

    def look_after(self) -> None:
        """Every so often an operator redrives what is kept, or throws it away."""
        chance, stack = self.stack.chance, self.stack
        self._backups |= stack.store.objects
        for key in sorted(stack.store.objects.keys() - self._in_hand):
            if chance.surprise("operator", stack.weather.operator):
                self._command(key, discard=chance.part("operator discards") < 0.15)
        stack.kernel.at(stack.kernel.now + chance.whole("operator again", MINUTE, 20 * MINUTE), self.look_after)

    def _suspend(self, act: Act) -> None:
        """An operator suspends, and releases after a while."""
        party = PARTIES[act.subject]
        block = suspended(party, self.stack.kernel.now, "by the story", "")
        if self.stack.weather.alone or not self.stack.blocks.change(block):
            return

        def release() -> None:
            self.stack.log("operator", f"releases {party}")
            self._by_command(block)

        self.stack.kernel.at(act.due, release)

    def _close(self, act: Act) -> None:
        """An operator is sure that all targets answer, and may be wrong."""
        if not self.stack.weather.alone:
            for circuit in self.stack.watch.flow.circuits():
                self._by_command(circuit)

    def _limit(self, act: Act) -> None:
        """An operator says how many attempts there may be: by the command, which takes care of what is there."""
        stack, party = self.stack, PARTIES[act.subject]
        command = build(OperateLimits, stack)
        stack.log("operator", f"limits {party} to {act.rate or 'nothing'}")
        stack.watch.flow.by_command = True
        if act.rate:
            command.limit(party, act.rate, "", "the story")
        else:
            command.unlimit(party, "the story")
        stack.watch.flow.by_command = False

    def _by_command(self, block: Block) -> None:
        self.stack.watch.flow.by_command = True
        self.stack.blocks.remove(block)
        self.stack.watch.flow.by_command = False

    def knock(self, block: Block) -> None:
        """Somebody has something to do for a target of which all others are done."""
        kernel, host = self.stack.kernel, block.party.target.rpartition(" ")[2]
        self._post(Act(kernel.now, Do.POST, -1, kernel.now + SECOND, wishes=Wishes(host=host)))

    def _look_at_once(self, key: str) -> None:
        """An operator has an alarm, and is quick: whoever keeps this body is still at it."""
        chance, kernel = self.stack.chance, self.stack.kernel
        if self.stack.weather.alone:
            return
        if key in self._in_hand or not chance.surprise("operator at once", 0.25 * self.stack.weather.operator):
            return

        def redrive() -> None:
            if key in self.stack.store.objects and key not in self._in_hand:
                self._command(key, discard=False)

        kernel.at(kernel.now + chance.whole("operator how soon", 0, 25), redrive)

    def _command(self, key: str, *, discard: bool) -> None:
        use = self.stack.redrive.discard if discard else self.stack.redrive.redrive
        if discard:
            self.stack.watch.discarded |= self.stack.watch.ids_in(key)
        self.stack.log("operator", f"{'discards' if discard else 'redrives'} {self._named(key)}")

        self._in_hand.add(key)

        def answered(answer: Any) -> None:
            if isinstance(answer, Crash | Unavailable):
                self.stack.kernel.at(self.stack.kernel.now + 5 * MINUTE, again)
                return
            self._in_hand.discard(key)
            if isinstance(answer, Impossible):
                self.stack.log("operator", f"is answered: {answer}")

        def again() -> None:
            """A command that failed is repeated until it is answered, or there is nothing left to do."""
            if key in self.stack.store.objects:
                self.stack.start("redrive", lambda: use(key), answered)
            else:
                self._in_hand.discard(key)

        self.stack.start("redrive", lambda: use(key), answered)

    def _named(self, key: str) -> str:
        found = self.stack.read_dead_letter(self.stack.store.objects[key]).schedules
        return ", ".join(self.stack.watch.name(schedule.id) for schedule in found) or "what nobody can read"

    def restore(self) -> None:
        """Backups are restored: objects of the store that were redriven long ago, and records of the table."""
        for key, content in self._backups.items():
            self.stack.store.objects.setdefault(key, content)
            self._command(key, discard=False)
        accepted = self.stack.watch.accepted
        for schedule_id in [one for one in accepted if is_undecided(one)]:  # the one with its time stands for it
            del accepted[schedule_id]
        for schedule in accepted.values():
            self.stack.watch.struck.add(schedule.id)
            self.stack.log("operator", f"restores the record of {self.stack.watch.name(schedule.id)}")
            self.stack.records.put(schedule)


def payload_of(act: Act) -> str:
    """As JSON. What is posted with a key has one that tells it from all others."""
    if not act.wishes.key:
        return json.dumps(act.subject)
    return json.dumps({"subject": act.subject, "key": act.wishes.key, "do": "other" if act.do is Do.OTHER_BODY else ""})
