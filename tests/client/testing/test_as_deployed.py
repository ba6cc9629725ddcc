"""What the fake says of the deployment, the template says, too."""

from delayer.core.ledger.lifecycle import EventType
from delayer_client.testing.routes import DEFAULT, OF_FUNCTIONS, OTHERWISE, route_of
from delayer_client.testing.stack import NO_STEP, STEPS_SERIES
from tests.cfn import resources


def test_each_route_goes_to_the_function_that_the_template_names() -> None:
    routes = resources("AWS::ApiGatewayV2::Route").values()
    deployed = {route["RouteKey"]: route["Target"]["Fn::Sub"].split("{")[1].rstrip("}") for route in routes}
    here = {route: function for function, several in OF_FUNCTIONS.items() for route in several} | {DEFAULT: OTHERWISE}
    named = {route: "".join(map(str.title, name.split("-"))) + "Integration" for route, name in here.items()}
    assert named == deployed


def test_the_most_exact_route_is_found() -> None:
    found = route_of("GET", "/schedules/by-name/a%2Fb")
    assert (found.route, found.parameters) == ("GET /schedules/by-name/{name}", {"name": "a/b"})
    assert route_of("POST", "/schedules/batch").function == "api-batch-post"
    assert route_of("GET", "/series/0a/next").route == "GET /series/{seriesId}/next"
    assert route_of("HEAD", "/schedules").function == route_of("GET", "/").function == OTHERWISE


def test_series_are_stepped_by_the_events_that_their_queue_gets() -> None:
    wanted = resources("AWS::SNS::Subscription")["SeriesSubscription"]["FilterPolicy"]
    assert set(wanted["kind"]) == STEPS_SERIES
    assert set(wanted["type"][0]["anything-but"]) == NO_STEP
    assert {f"delayer.schedule.{one}" for one in EventType} > NO_STEP
