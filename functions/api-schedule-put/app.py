"""PUT /schedules/by-name/{name}: creates the schedule of that name, or replaces it."""

from delayer.accept import routes as schedules
from delayer.accept.ports import RequestRow
from delayer.accept.rules.admission import admit_named
from delayer.accept.rules.status import NameTaken
from delayer.accept.use_cases.once import Call, KnownKey
from delayer.accept.use_cases.replace import NamedAnswer, Replace, Replaced
from delayer.connections.routes import hinted
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-put")
policies, lanes = ports.settings.policies, ports.settings.lanes
replace = build(Replace, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name, body = request.parameter("name"), request.body
    call = Call(owner=owner, what=request.asked(), body=body, key=request.key())

    def put(known: KnownKey) -> NamedAnswer:
        wanted = admit_named(body, name, ports.clock.now(), ports.actions, policies, lanes)
        only_new, by = request.creates_only(), request.caller.arn
        return replace.by_name(wanted, owner, name, only_new=only_new, by=by, known=known)

    match replace.once(call, put):
        case Replaced(schedule=new, previous=previous):
            return hinted(schedules.put(new.id, new.point_in_time, previous), body)
        case RequestRow(schedule_id=before, point_in_time=time, replaces=previous):
            return hinted(schedules.put(before, time, previous), body)
        case NameTaken(holder):
            return schedules.name_exists(holder)
        case refusal:
            return schedules.refused(refusal)
