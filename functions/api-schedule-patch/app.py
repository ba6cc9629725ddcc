"""PATCH /schedules/{id}: another point in time, another payload, or both, in a new schedule that takes its place."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.core.api.admission import admit_change
from delayer.ports.registry import RequestRow
from delayer.use_cases.api.replace import Answer, Replaced
from delayer.use_cases.once import Call, Known
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-patch")
owner_of = requests.owner_reader()
replace = use_cases.replace(ports, use_cases.occurrences(ports))


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, schedule_id, body = owner_of(event), requests.parameter(event, "id"), requests.body_of(event)
    call = Call(owner=owner, what=requests.asked_of(event), body=body, key=requests.key_of(event))

    def change(known: Known) -> Answer:
        asked, by = admit_change(body, ports.clock.now()), requests.caller_of(event)
        time, payload = asked.point_in_time, asked.payload
        return replace.by_id(schedule_id, owner, point_in_time=time, payload=payload, by=by, known=known)

    match replace.once(call, change):
        case Replaced(schedule=new):
            return schedules.replaced(new.id, new.point_in_time, schedule_id)
        case RequestRow(schedule_id=before, point_in_time=time):
            return schedules.replaced(before, time, schedule_id)
        case refusal:
            return schedules.not_replaced(refusal)
