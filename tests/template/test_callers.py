"""Who calls the API: all of its functions know it from the one resource that has let it pass (ADR 0108)."""

import importlib.util

from delayer.http.routing import access_of
from tests.cfn import ROOT, TEMPLATE, deployed, functions, resources, variables
from tests.openapi import openapi

OPENAPI = openapi()
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, item in OPENAPI["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
}


def test_all_functions_of_the_api_get_the_callers_from_the_resource() -> None:
    of_api = [name for name in functions() if name.startswith("api-")]
    assert len(of_api) > 20
    assert {str(variables(name)["API_AUTHORIZATION"]) for name in of_api} == {str({"Fn::GetAtt": "ApiCallers.Setting"})}
    assert not [name for name in set(functions()) - set(of_api) if "API_AUTHORIZATION" in variables(name)]


def test_the_resource_says_all_that_there_is_to_say() -> None:
    [(name, properties)] = resources("Custom::DelayerCallers").items()
    assert name == "ApiCallers"
    assert {key: value for key, value in properties.items() if key not in ("ServiceToken", "ServiceTimeout")} == {
        "Authorization": {"Ref": "ApiAuthorization"},
        "Issuer": {"Ref": "JwtIssuer"},
        "OwnerClaim": {"Ref": "JwtOwnerClaim"},
        "AllowOwnerClaimChange": {"Ref": "AllowOwnerClaimChange"},
        "ReadScope": {"Ref": "JwtReadScope"},
        "WriteScope": {"Ref": "JwtWriteScope"},
    }
    assert "Condition" not in deployed()["Resources"][name]


def test_each_operation_says_whether_it_reads() -> None:
    """What reads is a GET, or computes; a secret is no reader's."""
    assert {str(one.get("x-delayer-access")) for one in OPERATIONS.values()} <= {"read", "write"}
    for route, operation in OPERATIONS.items():
        assert access_of(route) == operation["x-delayer-access"], route
        if operation["x-delayer-access"] == "read":
            assert route.startswith("GET ") or route == "POST /series/preview"
            assert "secret" not in route


def test_a_route_of_the_template_is_an_operation_or_the_rest() -> None:
    keys = {route["RouteKey"] for route in resources("AWS::ApiGatewayV2::Route").values()}
    assert keys - {"$default"} == set(OPERATIONS)


def test_the_part_that_is_made_is_up_to_date() -> None:
    """Of the contract, and of the folders of the functions (ADR 0177)."""
    spec = importlib.util.spec_from_file_location("api_template", ROOT / "shared/api_template.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.template_text(OPENAPI) == TEMPLATE.read_text(), "run: make contract"
    for name in functions():
        assert (ROOT / f"functions/{name}/function.yaml").is_file() == name.startswith("api-")
