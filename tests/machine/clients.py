"""The clients of a machine: each call is repeated, with its key, until there is an answer; and an operator."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import define, field

from delayer.history.model import occurrence_of
from delayer.http.answers import Response
from delayer.http.received import received
from delayer.http.requests import ApiRequest, Caller
from delayer.http.routing import route_of
from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant, parse_instant
from tests.machine.asked import Asked, SeriesWish
from tests.machine.promise import Promise
from tests.machine.watch import Watch
from tests.machine.weather import LENGTH
from tests.simulation.engine.chance import Chance

HERE: Final = Caller(address="127.0.0.1")
HOSTS: Final = ("one.example", "two.example", "three.example")
NAMES: Final = ("alpha", "beta")
GROUPS: Final = ("red", "blue")
UNKNOWN: Final = 503
LONG: Final = 1_300  # seconds: more than one message of SQS waits
OPERATOR: Final = "operator-dead-letters"
Then = Callable[[Response], None]


@define(eq=False, kw_only=True)
class Ask:
    """A call. `then` hears its answer, unless nobody knows what became of it."""

    function: str
    request: ApiRequest
    then: Then
    is_repeated: bool = True  # until it is answered
    lost: Callable[[], None] = lambda: None
    changes: bool = True


def request_of(method: str, path: str, body: Any = None, key: str = "") -> tuple[str, ApiRequest]:
    """As the door makes it, and the function that answers it."""
    bare, _, query = path.partition("?")
    routed = route_of(method, bare)
    headers = {"delayer-owner": "ann", "content-type": "application/json"}
    headers |= {"idempotency-key": key} if key else {}
    content = b"" if body is None else json.dumps(body).encode()
    return routed.function, received(routed, bare, query, headers, body=content, caller=HERE)


@define(eq=False, kw_only=True)
class Clients:
    """`ask` puts a call before the machine; `at` lets something happen in so many milliseconds."""

    chance: Chance
    watch: Watch
    asked: Asked
    now: Callable[[], Millis]
    ask: Callable[[Ask], None]
    at: Callable[[Millis, Callable[[], None]], None]
    acts: int = 22
    length: Millis = LENGTH
    long_retries: float = 0.05  # share of the schedules whose second attempt is due in a quarter of an hour
    has_long: bool = False  # there is one
    ids: list[str] = field(factory=list)
    series: list[str] = field(factory=list)
    active: dict[str, bool] = field(factory=dict)  # series that are to go on
    group_members: dict[str, list[str]] = field(factory=lambda: {one: [] for one in GROUPS})
    _number: int = 0

    def plan(self) -> None:
        """All that they will do, at which time."""
        kinds = {
            self.post: 30,
            self.batch: 5,
            self.put_by_name: 8,
            self.move: 8,
            self.cancel: 14,
            self.cancel_by_name: 4,
            self.stop: 5,
            self.post_series: 6,
            self.pause: 5,
            self.resume: 5,
            self.cancel_series: 2,
            self.change_series: 3,
            self.run_series: 8,
            self.cancel_group: 3,
            self.redrive: 4,
            self.spread: 3,
            self.move_occurrence: 2,
        }
        wheel = [kind for kind, share in kinds.items() for _ in range(share)]
        for _ in range(self.acts):
            act = self.chance.one_of("act", wheel)
            self.at(self.chance.whole("when", 0, self.length), act)
        for _ in range(3):
            self.at(self.chance.whole("when", 0, MINUTE), self.post)
        if self.chance.part("a series") < 0.5:
            self.at(self.chance.whole("when", 0, MINUTE), self.post_series)

    # ------------------------------------------------------------ calls

    def call(
        self,
        method: str,
        path: str,
        then: Then,
        body: Any = None,
        key: str = "",
        *,
        is_repeated: bool = True,
        changes: bool = True,
    ) -> None:
        """One call, and what becomes of it."""
        function, request = request_of(method, path, body, key)

        def again() -> None:
            if is_repeated:
                self.at(self.chance.whole("again", 300, 3 * SECOND), lambda: self.ask(one))

        def heard(response: Response) -> None:
            self.watch.answered(response, changes=changes)
            if response.status == UNKNOWN:
                again()
            elif response.status >= 500:
                self.watch.fail(Promise.NO_DEFECT, f"{method} {path} is answered {response.status}: {response.body}")
            else:
                then(response)
                if key and is_repeated and response.status in (200, 201) and self.chance.part("asks twice") < 0.3:
                    self._asks_twice((method, path, body, key), response)

        one = Ask(function=function, request=request, then=heard, is_repeated=is_repeated, lost=again, changes=changes)
        self.ask(one)

    def _asks_twice(self, call: tuple[str, str, Any, str], answer: Response) -> None:
        """Who is not sure that there was an answer."""
        method, path, body, key = call
        wait = self.chance.whole("asks twice when", 0, 5 * SECOND)
        if body and "payload" in body and self.chance.part("something else") < 0.3:
            other = {**body, "payload": {"n": "another"}}
            self.at(wait, lambda: self._once(request_of(method, path, other, key), self.asked.another_body))
            return
        same = request_of(method, path, body, key)
        self.at(wait, lambda: self._once(same, lambda again: self.asked.same(answer, again)))

    def _once(self, call: tuple[str, ApiRequest], then: Then) -> None:
        """A call that is not repeated if nobody knows what became of it."""

        def heard(response: Response) -> None:
            if response.status != UNKNOWN:
                then(response)

        self.ask(Ask(function=call[0], request=call[1], then=heard))

    def _body(self, *, series: bool = False) -> dict[str, Any]:
        self._number += 1
        chance = self.chance
        host = chance.one_of("host", HOSTS)
        body: dict[str, Any] = {
            "action": {"type": "http-request", "url": f"http://{host}/hook"},
            "payload": {"n": self._number},
            "retry": {
                "maxAttempts": chance.whole("attempts of", 1, 4),
                "backoff": {"first": 1, "factor": 4, "max": chance.one_of("longest pause", (3, 60))},
            },
        }
        if chance.part("long retry") < self.long_retries:
            self.has_long = True
            body["retry"] = {"maxAttempts": 2, "backoff": {"first": LONG, "factor": 1, "max": LONG}}
        if chance.part("on late") < 0.3:
            body["onLate"] = {"after": "PT5S", "do": chance.one_of("do late", ("drop", "fire"))}
        if not series:
            body["pointInTime"] = format_instant(self._due())
            if chance.part("in a group") < 0.6:
                body["group"] = chance.one_of("group", GROUPS)
        return body

    def _due(self) -> Millis:
        kind = self.chance.part("how soon")
        if kind < 0.1:
            return self.now() - self.chance.whole("overdue", 0, 20 * SECOND)
        if kind < 0.4:
            return self.now() + self.chance.whole("soon", 0, 3 * SECOND)
        if kind < 0.6:  # several at one instant
            return (self.now() // MINUTE + self.chance.whole("whole minute", 1, 4)) * MINUTE
        return self.now() + self.chance.whole("later", 0, 6 * MINUTE)

    def _key(self) -> str:
        return f"key-{self._number}" if self.chance.part("with a key") < 0.7 else ""

    # ------------------------------------------------------------ schedules

    def post(self) -> None:
        """One schedule; now and then with a name."""
        body = self._body()
        if self.chance.part("named") < 0.2:
            body["name"] = self.chance.one_of("name", NAMES)
        key = self._key()

        def then(answer: Response) -> None:
            if answer.status == 409:
                self.asked.name_taken(answer)
            self._has(answer, body, key)

        self.call("POST", "/schedules", then, body, key, is_repeated=bool(key))

    def _has(self, answer: Response, body: Mapping[str, Any], key: str = "") -> None:
        if answer.status not in (200, 201):
            return
        shown = json.loads(answer.body)
        schedule_id = shown["scheduleId"]
        due = parse_instant(body["pointInTime"]) if "pointInTime" in body else None
        payload = json.dumps(body["payload"]) if "payload" in body else ""
        if due is not None and parse_instant(shown["pointInTime"]) != due:
            self.watch.fail(Promise.AS_ASKED, f"{self.watch.name(schedule_id)} is shown as due {shown['pointInTime']}")
        self.watch.has_accepted(schedule_id, due, payload)
        if key:
            self.watch.one_key(payload)
        self.ids.append(schedule_id)
        if name := body.get("name"):
            self.asked.has_name(schedule_id, name)
        if group := body.get("group"):
            self.group_members[group].append(schedule_id)
        if self.chance.part("cancelled near its time") < 0.15:
            schedule = self.watch.schedules.get(schedule_id)
            ahead = schedule.point_in_time - self.now() if schedule else 0
            self.at(max(0, ahead + self.chance.whole("how near", -120, 40)), lambda: self._cancel(schedule_id))

    def batch(self) -> None:
        """Some at once, each with a key of its own."""
        bodies = [self._body() for _ in range(self.chance.whole("in a batch", 2, 5))]
        keyed = [{**body, "idempotencyKey": f"batch-{self._number}-{at}"} for at, body in enumerate(bodies)]

        def then(answer: Response) -> None:
            for body, result in zip(bodies, json.loads(answer.body)["results"], strict=True):
                if result["status"] == 201:
                    self._has(Response(status=201, body=json.dumps(result["schedule"])), body, "in a batch")

        self.call("POST", "/schedules/batch", then, {"schedules": keyed})

    def put_by_name(self) -> None:
        """In the place of whatever has the name."""
        body, name = self._body(), self.chance.one_of("name", NAMES)
        key = f"put-{self._number}"
        self.call(
            "PUT", f"/schedules/by-name/{name}", lambda answer: self._replaced(answer, body, key, name), body, key
        )

    def _replaced(self, answer: Response, body: Mapping[str, Any], key: str = "", named: str = "") -> None:
        if answer.status in (200, 201):
            if old := json.loads(answer.body).get("replaces"):
                self.watch.revoke(old, "replaced")
            self._has(answer, body, key)
            if named:
                self.asked.has_name(json.loads(answer.body)["scheduleId"], named)

    def move(self) -> None:
        """To another time, or with another payload."""
        if not self.ids:
            return
        one, body = self.chance.one_of("which", self.ids), self._body()
        change = (
            {"pointInTime": body["pointInTime"]}
            if self.chance.part("only its time") < 0.5
            else {"payload": body["payload"]}
        )
        self._move(one, change)

    def _move(self, one: str, change: Mapping[str, Any]) -> None:
        def then(answer: Response) -> None:
            if answer.status == 409:
                self.asked.refused(answer, one)
            self._replaced(answer, change)

        self.call("PATCH", f"/schedules/{one}", then, change, f"move-{self._number}")

    def move_occurrence(self) -> None:
        """One that waits, of any series, to a later time."""
        waiting = [one.id for one in self.watch.records.values() if occurrence_of(one.definition)]
        if waiting:
            self._number += 1
            one = self.chance.one_of("which occurrence", sorted(waiting))
            occurrence = occurrence_of(self.watch.records[one].definition)
            self.asked.disturbed.add(occurrence.series if occurrence else "")
            self._move(one, {"pointInTime": format_instant(self.now() + self.chance.whole("moved by", 0, 3 * MINUTE))})

    def cancel(self) -> None:
        """Any that there is."""
        if self.ids:
            self._cancel(self.chance.one_of("which", self.ids))

    def _cancel(self, schedule_id: str) -> None:
        def then(answer: Response) -> None:
            if answer.status == 200:
                self.watch.revoke(json.loads(answer.body)["scheduleId"], "cancelled")
            elif answer.status == 409 and "may-be-running" not in str(answer.body):  # that says to ask again
                self.watch.too_late(schedule_id)

        self.call("DELETE", f"/schedules/{schedule_id}", then)

    def cancel_by_name(self) -> None:
        """Whatever has the name."""

        def then(answer: Response) -> None:
            if answer.status == 200:
                self.watch.revoke(json.loads(answer.body)["scheduleId"], "cancelled")

        self.call("DELETE", f"/schedules/by-name/{self.chance.one_of('name', NAMES)}", then)

    def stop(self) -> None:
        """No further attempt."""
        if not self.ids:
            return
        self.stop_one(self.chance.one_of("which", self.ids))

    def stop_one(self, one: str) -> None:
        """The same, of a certain one."""

        def then(answer: Response) -> None:
            if answer.status in (200, 202):
                self.watch.stop(one)
            elif answer.status == 409:
                self.asked.refused(answer, one)

        self.call("POST", f"/schedules/{one}/stop", then)

    def cancel_group(self) -> None:
        """A job, which the machine carries out by itself."""
        group = self.chance.one_of("group", GROUPS)
        waiting = frozenset(one for one in self.group_members[group] if one in self.watch.records)

        def then(answer: Response) -> None:
            if answer.status == 202:
                self.asked.groups.append((self.watch.true_time(), waiting))

        self.call("DELETE", f"/schedules?group={group}", then)

    def spread(self) -> None:
        """A policy decides when."""
        body = self._body()
        del body["pointInTime"]
        body["when"] = {"policy": "spread", "seconds": self.chance.whole("spread over", 1, 120)}
        body.pop("group", None)

        def then(answer: Response) -> None:
            if answer.status not in (200, 201):
                self.watch.fail(Promise.NO_DEFECT, f"a time that is to be decided: {answer.status} {answer.body}")
            elif self.chance.part("cancels the undecided") < 0.4:
                one, payload = json.loads(answer.body)["scheduleId"], json.dumps(body["payload"])
                wait = self.chance.whole("cancels when", 0, MINUTE)
                self.at(wait, lambda: self._cancel_undecided(one, payload))

        self.call("POST", "/schedules", then, body, f"spread-{self._number}")

    def _cancel_undecided(self, one: str, payload: str) -> None:
        """By the id that was accepted: what has its time by now is cancelled."""

        def then(answer: Response) -> None:
            if answer.status == 200:
                self.watch.revoked |= self.watch.payloads[payload]

        self.call("DELETE", f"/schedules/{one}", then)

    def show(self, schedule_id: str, then: Callable[[Mapping[str, Any]], None]) -> None:
        """What is known of it."""
        self.call("GET", f"/schedules/{schedule_id}", lambda answer: then(json.loads(answer.body)), changes=False)

    # ------------------------------------------------------------ series

    def post_series(self) -> None:
        """One that runs each minute."""
        body = self._body(series=True) | {"overlap": self.chance.one_of("overlap", ("allow", "skip", "queue-one"))}
        body["repeat"] = {"every": "PT1M", "onMissed": self.chance.one_of("missed", ("skip", "once", "all"))}
        key = f"series-{self._number}"

        def then(answer: Response) -> None:
            if answer.status == 201:
                one = json.loads(answer.body)["seriesId"]
                if one not in self.series:
                    self.series.append(one)
                self.active.setdefault(one, True)
                self.asked.series.setdefault(one, SeriesWish(body["overlap"], body["repeat"]["onMissed"]))
                self.watch.say(f"client: series {self.series.index(one)} is accepted")

        self.call("POST", "/series", then, body, key)

    def _of_series(self, method: str, rest: str, then: Callable[[Response, str], None], body: Any = None) -> None:
        if self.series:
            one = self.chance.one_of("which series", self.series)
            key = f"change-{self._number}" if rest == "/run-now" else ""
            self._number += 1
            if rest != "/run-now":
                self.asked.disturbed.add(one)
            self.call(method, f"/series/{one}{rest}", lambda answer: then(answer, one), body, key)

    def pause(self) -> None:
        """Nothing more of it is handed over."""
        self._of_series("POST", "/pause", self._halted)

    def cancel_series(self) -> None:
        """The same, for ever."""
        self._of_series("DELETE", "", self._halted)

    def halt(self, series: str) -> None:
        """Cancels one."""
        self.asked.disturbed.add(series)
        self.call("DELETE", f"/series/{series}", lambda answer: self._halted(answer, series))

    def _halted(self, answer: Response, one: str) -> None:
        if answer.status == 200:
            self.watch.say(f"client: series {self.series.index(one)} is halted")
            self.watch.halted.setdefault(one, self.watch.true_time())
            self.active[one] = False
        elif "may-be-running" in str(answer.body):  # it is halted, and an attempt may be under way
            self.active[one] = False

    def resume(self) -> None:
        """It goes on."""

        def then(answer: Response, one: str) -> None:
            if answer.status == 200:
                self.watch.say(f"client: series {self.series.index(one)} is resumed")
                self.active[one] = True
                if since := self.watch.halted.pop(one, None):
                    self.asked.pauses.append((one, since, self.watch.true_time()))

        self._of_series("POST", "/resume", then)

    def change_series(self) -> None:
        """Another payload."""
        self._number += 1
        self._of_series("PATCH", "", lambda *_: None, {"payload": {"n": self._number}})

    def run_series(self) -> None:
        """Once, now."""
        self._of_series("POST", "/run-now", lambda *_: None)

    # ------------------------------------------------------------ the operator

    def redrive(self) -> None:
        """All that has failed, one after the other."""

        def listed(answer: Response) -> None:
            for one in json.loads(answer.body)["result"]["deadLetters"]:
                self._command({"command": "redrive", "key": one["key"], "by": "the story"}, report)

        def report(answer: Response) -> None:
            self.watch.say(f"operator: is answered {answer.body[:160]}")

        self._command({"command": "list"}, listed)

    def _command(self, command: Mapping[str, Any], then: Then) -> None:
        self.ask(Ask(function=OPERATOR, request=ApiRequest(body=json.dumps(command).encode()), then=then))
