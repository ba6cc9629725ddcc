"""PUT /schedules/by-name/{name}: creates the schedule of that name, or replaces it."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.aws.http.connections import hinted
from delayer.core.api.admission import admit_named
from delayer.core.api.cancellation import NameTaken
from delayer.ports.registry import RequestRow
from delayer.use_cases.api.replace import NamedAnswer, Replaced
from delayer.use_cases.once import Call, Known
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-put")
owner_of = requests.owner_reader()
policies = ports.settings.policies
replace = use_cases.replace(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name, body = owner_of(event), requests.parameter(event, "name"), requests.body_of(event)
    call = Call(owner=owner, what=requests.asked_of(event), body=body, key=requests.key_of(event))

    def put(known: Known) -> NamedAnswer:
        request = admit_named(body, name, ports.clock.now(), ports.actions, policies)
        only_new, by = requests.creates_only(event), requests.caller_of(event)
        return replace.by_name(request, owner, name, only_new=only_new, by=by, known=known)

    match replace.once(call, put):
        case Replaced(schedule=new, previous=previous):
            return hinted(schedules.put(new.id, new.point_in_time, previous), body)
        case RequestRow(schedule_id=before, point_in_time=time, replaces=previous):
            return hinted(schedules.put(before, time, previous), body)
        case NameTaken(holder):
            return schedules.name_exists(holder)
        case refusal:
            return schedules.not_replaced(refusal)
