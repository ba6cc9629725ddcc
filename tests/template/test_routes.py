"""What API Gateway imports: the routes of the template and no other, and none of them open to everybody (ADR 0160)."""

from typing import Any

import pytest

from operate.deploy.errors import TemplateError
from operate.deploy.routes import GATHERED, SIGNED, with_gathered_routes
from tests.cfn import deployed, expanded, resources
from tests.running.of_each import of_each

JWT = "JwtAuthorizer"
WANTED: dict[str, list[dict[str, list[str]]]] = {"AWS_IAM": [{SIGNED: []}], "JWT": [{JWT: []}], "NONE": []}
each_authorization = of_each(sorted(WANTED))


def document() -> dict[str, Any]:
    """As it stands in the template that is deployed."""
    body: dict[str, Any] = deployed()["Resources"]["Api"]["Properties"]["Body"]
    return body


def decided(value: Any, authorization: str) -> Any:
    """What CloudFormation makes of it, with this value of ApiAuthorization. A member without a value is left out."""
    if isinstance(value, list):
        return [decided(item, authorization) for item in value]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value:
        condition, yes, no = value["Fn::If"]
        [left, right] = deployed()["Conditions"][condition]["Fn::Equals"]
        assert left == {"Ref": "ApiAuthorization"}
        return decided(yes if right == authorization else no, authorization)
    made = {name: decided(item, authorization) for name, item in value.items()}
    return {name: item for name, item in made.items() if item != {"Ref": "AWS::NoValue"}}


def operations(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By the key of the route."""
    return {
        path if path == "$default" else f"{method.upper()} {path}": operation
        for path, item in body["paths"].items()
        for method, operation in item.items()
    }


def test_it_has_each_route_of_the_template_and_no_other() -> None:
    """And none is a resource any more."""
    routes = {route["RouteKey"]: route["Target"]["Fn::Sub"] for route in resources("AWS::ApiGatewayV2::Route").values()}
    found = {
        key: operation["x-amazon-apigateway-integration"]["$ref"].rpartition("/")[2]
        for key, operation in operations(document()).items()
    }
    assert found == {key: target[len("integrations/${") : -1] for key, target in routes.items()}
    assert {one["Type"] for one in deployed()["Resources"].values()}.isdisjoint(GATHERED)
    [operation] = document()["paths"]["$default"].values()
    assert operation["isDefaultRoute"] is True


@each_authorization
def test_each_operation_bears_its_authorization_and_none_is_open(authorization: str) -> None:
    """NONE is for one machine, where the functions themselves look at the address that calls (ADR 0064)."""
    body = decided(document(), authorization)
    found = operations(body)
    assert len(found) > 30
    assert {
        key: one.get("security") for key, one in found.items() if one.get("security") != WANTED[authorization]
    } == {}
    schemes = body["components"]["securitySchemes"]
    used = {name for one in found.values() for alternative in one["security"] for name in alternative}
    assert used <= set(schemes)
    assert (JWT in schemes) == (authorization == "JWT"), "an authorizer without an issuer would be refused"


def test_a_value_that_nobody_knows_leaves_it_closed() -> None:
    found = operations(decided(document(), "ANYTHING"))
    assert {str(one["security"]) for one in found.values()} == {str([{SIGNED: []}])}


def test_the_schemes_are_those_of_the_template() -> None:
    schemes = decided(document(), "JWT")["components"]["securitySchemes"]
    [authorizer] = resources("AWS::ApiGatewayV2::Authorizer").values()
    assert schemes[SIGNED]["x-amazon-apigateway-authtype"] == "awsSigv4"
    assert schemes[JWT]["x-amazon-apigateway-authorizer"] == {
        "type": "jwt",
        "identitySource": authorizer["IdentitySource"][0],
        "jwtConfiguration": {
            "issuer": authorizer["JwtConfiguration"]["Issuer"],
            "audience": authorizer["JwtConfiguration"]["Audience"],
        },
    }


def test_each_integration_waits_and_invokes_as_it_is_written() -> None:
    found = document()["components"]["x-amazon-apigateway-integrations"]
    written = resources("AWS::ApiGatewayV2::Integration")
    assert set(found) == set(written)
    for name, one in found.items():
        function = written[name]["IntegrationUri"]["Fn::GetAtt"]
        assert one["uri"]["Fn::Sub"].endswith(f":lambda:path/2015-03-31/functions/${{{function}}}/invocations")
        assert one["credentials"] == {"Fn::GetAtt": "ApiInvokerRole.Arn"}
        assert (one["payloadFormatVersion"], one["timeoutInMillis"]) == ("2.0", written[name]["TimeoutInMillis"])
        assert (one["type"], one["httpMethod"]) == ("aws_proxy", "POST")


def test_the_api_is_named_by_its_document() -> None:
    """With a Body, API Gateway takes the title for the name."""
    api = deployed()["Resources"]["Api"]["Properties"]
    assert set(api) == {"Body"}
    assert api["Body"]["info"]["title"] == {"Ref": "AWS::StackName"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"AuthorizationType": "NONE"}, "name a parameter"),
        ({"AuthorizationType": "CUSTOM"}, "name a parameter"),
        ({"AuthorizerId": {"Ref": JWT}}, "AuthorizerId that is not understood"),
        ({"Target": {"Fn::Sub": "integrations/${Another}"}}, "no integration of its API"),
    ],
)
def test_a_route_that_would_be_open_or_lead_nowhere_is_refused(change: dict[str, Any], sentence: str) -> None:
    template = expanded()
    route = template["Resources"]["PostScheduleRoute"]
    changed = {**route, "Properties": {**route["Properties"], **change}}
    with pytest.raises(TemplateError, match=sentence):
        with_gathered_routes({**template, "Resources": {**template["Resources"], "PostScheduleRoute": changed}})
