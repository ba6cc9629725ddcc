"""PATCH /schedules/{id}: another point in time, another payload, or both, in a new schedule that takes its place."""

from delayer.accept import routes as schedules
from delayer.accept.ports import RequestRow
from delayer.accept.rules.admission import admit_change
from delayer.accept.use_cases.once import Call, KnownKey
from delayer.accept.use_cases.replace import Answer, Replace, Replaced
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-patch")
replace = build(Replace, ports, occurrences=use_cases.occurrences(ports))


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    schedule_id, body = request.parameter("id"), request.body
    call = Call(owner=owner, what=request.asked(), body=body, key=request.key())

    def change(known: KnownKey) -> Answer:
        asked, by = admit_change(body, ports.clock.now()), request.caller.arn
        time, payload = asked.point_in_time, asked.payload
        return replace.by_id(schedule_id, owner, point_in_time=time, payload=payload, by=by, known=known)

    match replace.once(call, change):
        case Replaced(schedule=new):
            return schedules.replaced(new.id, new.point_in_time, schedule_id)
        case RequestRow(schedule_id=before, point_in_time=time):
            return schedules.replaced(before, time, schedule_id)
        case refusal:
            return schedules.refused(refusal)
