"""POST /schedules/batch: up to a hundred schedules in one call, each with its own result."""

from functools import partial

from delayer.accept import routes as schedules
from delayer.accept.rules.admission import admit_batch
from delayer.accept.rules.status import NameTaken
from delayer.accept.use_cases.accept import Accepted, AcceptMany, Answer, Wish
from delayer.connections.routes import hinted
from delayer.http import answers as problems
from delayer.http.json_body import KEY, BatchItem, keyed
from delayer.http.problem import Invalid
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-batch-post")
accept = build(AcceptMany, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> problems.Response:
    """One call."""
    items = keyed(admit_batch(request.body))
    answers = iter(accept([Wish(body=item.body, key=item.key) for item in items if not item.errors], owner))
    made = [(item, Invalid(item.errors) if item.errors else next(answers)) for item in items]
    return problems.results([problems.respond(ports.observer, partial(shown, *one)) for one in made])


def shown(item: BatchItem, answer: Answer | Exception) -> problems.Response:
    """One of them, answered as a POST of its own."""
    match answer:
        case Exception():
            raise answer
        case Accepted(schedule_id=schedule_id, point_in_time=point_in_time):
            return hinted(schedules.created(schedule_id, point_in_time), item.body)
        case NameTaken(schedule_id):
            return schedules.name_taken(schedule_id)
    return problems.key_reused(KEY)
