"""The owners of series. What gets no clear answer is asked again, as with schedules."""

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field

from delayer.accept.ports import RequestRow
from delayer.accept.rules.request import KeyReused
from delayer.accept.use_cases.once import Call
from delayer.history.model import SeriesRefuses
from delayer.schedule.instants import SECOND, format_instant
from delayer.series.rules.backfill import Range
from delayer.series.rules.series import MayStillRun, SeriesDefinition
from delayer.series.use_cases.change import SeriesChanged
from delayer.series.use_cases.create import SeriesCreated
from delayer.series.use_cases.halt import Halted
from delayer.series.use_cases.resume import Resumed
from delayer.series.use_cases.run import Began
from tests.simulation.story.plan import Do
from tests.simulation.story.series_plan import Repeat, SeriesAct
from tests.world import ACTION

if TYPE_CHECKING:
    from tests.simulation.story.actors import Actors

OWNER = "owner"
TRIES = 4


@define(eq=False)
class SeriesActors:
    """All of them."""

    actors: "Actors"
    groups: dict[str, str] = field(factory=dict)  # of those that have one
    ids: dict[int, str] = field(factory=dict)  # the series that a subject is, by its number

    def act(self, act: SeriesAct) -> None:
        """Somebody does something."""
        if act.do is Do.SERIES:
            self._post(act)
        elif series := self.ids.get(act.subject):
            self._log(f"does to {self._name(series)}: {act.do}")
            {
                Do.PAUSE: self._halt,
                Do.END: self._halt,
                Do.RESUME: self._resume,
                Do.CHANGE_PAYLOAD: self._change,
                Do.CHANGE_RULE: self._change,
                Do.RUN_NOW: self._run_now,
                Do.BACKFILL: self._backfill,
                Do.CANCEL_ONE: self._cancel_one,
                Do.MOVE_ONE: self._move_one,
            }[act.do](act, series)

    def _post(self, act: SeriesAct) -> None:
        stack, wishes = self.actors.stack, act.wishes
        document = {
            "repeat": repeat_of(act.repeat),
            "overlap": act.repeat.overlap,
            "action": ACTION,
            "payload": payload_of(act),
            "retry": {"maxAttempts": act.attempts},
            **({"group": wishes.group} if wishes.group else {}),
            **({"onLate": {"after": f"PT{wishes.drop_after}S", "do": "drop"}} if wishes.drop_after else {}),
        }
        body = json.dumps(document).encode()
        self.actors.ask(
            "create series",
            lambda: stack.create_series(body, OWNER, wishes.key),
            lambda answer: self._was_created(act, answer),
        )

    def _was_created(self, act: SeriesAct, answer: Any) -> None:
        match answer:
            case SeriesCreated(series=series):
                self.ids[act.subject] = series
                self._log(f"has {self._name(series)}: {act.repeat}")
                self.actors.stack.watch.series.answered_created(series, act.repeat)
                if act.wishes.group:
                    self.groups[series] = act.wishes.group
            case _:
                self._unexpected(act, answer)

    # ------------------------------------------------------------ pause, resume, end

    def _halt(self, act: SeriesAct, series: str) -> None:
        stack = self.actors.stack
        stack.watch.series.asked_to_halt(series)
        use = stack.halt.pause if act.do is Do.PAUSE else stack.halt.delete
        asked_at = stack.watch.series.resumes_of(series)
        self.actors.ask(
            "halt series", partial(use, OWNER, series), lambda one: self._was_halted(act, series, one, asked_at)
        )

    def _was_halted(self, act: SeriesAct, series: str, answer: Any, resumes: int) -> None:
        match answer:
            case Halted():
                named = ", ".join(self.actors.stack.watch.name(row.schedule_id) for row in answer.claimed)
                self._log(f"is answered {act.do}: {self._name(series)}, claimed before: {named or 'none'}")
                self.actors.stack.watch.series.answered_halted(series, answer, resumes)
            case MayStillRun(wait=wait):
                self._later(wait + SECOND, lambda: self._halt(act, series))
            case SeriesRefuses():
                self._log(f"is answered {act.do}: {answer.reason}")
            case _:
                self._unexpected(act, answer)

    def _resume(self, act: SeriesAct, series: str) -> None:
        stack = self.actors.stack
        stack.watch.series.asked_to_resume(series)
        self.actors.ask(
            "resume series", lambda: stack.resume(OWNER, series), lambda one: self._was_resumed(act, series, one)
        )

    def _was_resumed(self, act: SeriesAct, series: str, answer: Any) -> None:
        match answer:
            case Resumed() | SeriesRefuses():
                self._log(f"is answered {act.do}: {type(answer).__name__}")
            case MayStillRun(wait=wait):
                self._later(wait + SECOND, lambda: self._resume(act, series))
            case _:
                self._unexpected(act, answer)

    # ------------------------------------------------------------ changes

    def _change(self, act: SeriesAct, series: str) -> None:
        stack = self.actors.stack
        stack.watch.series.asked_to_change(series)

        def change(old: SeriesDefinition) -> SeriesDefinition:
            if act.do is Do.CHANGE_PAYLOAD:
                return evolve(old, definition=evolve(old.definition, payload=json.dumps(payload_of(act))))
            document = json.loads(old.repeat) | repeat_of(act.repeat)
            return evolve(old, repeat=json.dumps(document))

        key = "" if act.is_impatient else act.wishes.key
        call = Call(owner=OWNER, what=f"PATCH {series}", body=repr((act.do, act.version, act.repeat)).encode(), key=key)
        self.actors.ask(
            "change series",
            lambda: stack.change_series.once(
                call, lambda known: stack.change_series(OWNER, series, change, known=known)
            ),
            lambda answer: self._was_changed(act, series, key, answer),
        )

    def _was_changed(self, act: SeriesAct, series: str, key: str, answer: Any) -> None:
        match answer:
            case SeriesChanged(effect=effect) | (RequestRow() as effect):
                self._log(f"is answered {act.do}: {self._name(series)}, from number {effect.number} on")
                version = act.version if act.do is Do.CHANGE_PAYLOAD else 0
                self.actors.stack.watch.series.answered_changed(series, effect, version, key)
            case MayStillRun(wait=wait):
                self._later(wait + SECOND, lambda: self._change(act, series))
            case SeriesRefuses():
                self._log(f"is answered {act.do}: {answer.reason}")
            case _:
                self._unexpected(act, answer)

    # ------------------------------------------------------------ more of them

    def _run_now(self, act: SeriesAct, series: str) -> None:
        stack, key = self.actors.stack, act.wishes.key
        stack.watch.series.asked_to_run(series, key)
        self.actors.ask(
            "run series", lambda: stack.run_series.now(OWNER, series, key), lambda one: self._began(act, one)
        )

    def _backfill(self, act: SeriesAct, series: str) -> None:
        stack, key = self.actors.stack, act.wishes.key
        asked = Range(since=0, until=stack.kernel.now)
        stack.watch.series.asked_to_fill(series, asked.since, asked.until)
        self.actors.ask(
            "run series",
            lambda: stack.run_series.backfill(OWNER, series, asked, b"", key),
            lambda one: self._began(act, one),
        )

    def _began(self, act: SeriesAct, answer: Any) -> None:
        watch = self.actors.stack.watch
        match answer:
            case Began(series=series, schedule_id=schedule_id):
                self._log(f"is answered {act.do}: {watch.name(schedule_id)}")
                watch.series.answered_began(series, schedule_id, act.wishes.key)
            case SeriesRefuses():
                self._log(f"is answered {act.do}: {answer.reason}")
            case _:
                self._unexpected(act, answer)

    # ------------------------------------------------------------ one occurrence, by its own id

    def _cancel_one(self, act: SeriesAct, series: str) -> None:
        if ids := self.actors.stack.watch.series.latest_of(series):
            self.actors.cancel_it(ids[0])

    def _move_one(self, act: SeriesAct, series: str) -> None:
        if ids := self.actors.stack.watch.series.latest_of(series):
            self.actors.move_it(act, ids[0])

    # ------------------------------------------------------------ what all of them do

    def _later(self, wait: int, do: Callable[[], None]) -> None:
        self.actors.stack.kernel.at(self.actors.stack.kernel.now + wait, do)

    def _name(self, series: str) -> str:
        return self.actors.stack.watch.series.name(series)

    def _log(self, what: str) -> None:
        self.actors.stack.log("owner", what)

    def _unexpected(self, act: SeriesAct, answer: Any) -> None:
        if isinstance(answer, KeyReused) and not act.wishes.key:
            return
        self.actors.stack.watch.unexpected(AssertionError(f"{act.do} was answered {answer}"))


def repeat_of(repeat: Repeat) -> dict[str, Any]:
    """As a client sends it."""
    return {
        "every": f"PT{repeat.minutes}M",
        "anchor": format_instant(repeat.anchor),
        "from": format_instant(repeat.anchor),
        "count": repeat.count,
        "onMissed": repeat.on_missed,
    }


def payload_of(act: SeriesAct) -> dict[str, Any]:
    """It says which definition it is of, and is told which occurrence it is."""
    return {
        "subject": act.subject,
        "madeWith": act.wishes.key if act.do is Do.SERIES else "",
        "version": act.version if act.do is Do.CHANGE_PAYLOAD else 1,
        "number": "<delayer.occurrence.number>",
        "time": "<delayer.occurrence.time>",
    }
