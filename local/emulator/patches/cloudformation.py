"""CloudFormation: what ministack does not understand in a template, and AWS does."""

import functools
import re
from typing import Any

Parameters = dict[str, dict[str, Any]]  # name -> {Value, …}


def resolve_pseudo_parameters(modules: list[Any], responses: Any) -> None:
    """Give conditions the account and the region. `modules` are those of ministack that evaluate conditions.

    A condition may compare with a pseudo parameter, as in `!Equals [!Ref Account, !Ref AWS::AccountId]`. ministack
    takes the name `AWS::AccountId` for the value, so that such a condition is never true.
    """
    evaluate = modules[0]._evaluate_conditions

    @functools.wraps(evaluate)
    def evaluated(template: dict[str, Any], parameters: Parameters) -> dict[str, bool]:
        pseudo = {
            "AWS::AccountId": {"Value": responses.get_account_id()},
            "AWS::Region": {"Value": responses.get_region()},
            "AWS::Partition": {"Value": "aws"},
        }
        conditions: dict[str, bool] = evaluate(template, {**pseudo, **parameters})
        return conditions

    for module in modules:
        module._evaluate_conditions = evaluated


def import_apis(provisioners: Any, gateway: Any) -> None:
    """Make the routes of an HTTP API that are in its `Body`. `gateway` is ministack's module of HTTP APIs.

    ministack takes a `Body` in its own API of imports for REST only, and ignores that of an HTTP API in a template.
    An import replaces all that was there, as ReimportApi does on AWS.
    """
    handlers = provisioners._RESOURCE_HANDLERS["AWS::ApiGatewayV2::Api"]
    create, update = handlers["create"], handlers["update"]

    @functools.wraps(create)
    def created(logical_id: str, properties: dict[str, Any], stack_name: str) -> Any:
        answer = create(logical_id, _named(properties), stack_name)
        _import(gateway, answer[0], properties.get("Body"))
        return answer

    @functools.wraps(update)
    def updated(physical_id: str, old: dict[str, Any], new: dict[str, Any], *others: Any, **named: Any) -> Any:
        answer = update(physical_id, _named(old), _named(new), *others, **named)
        _import(gateway, answer[0], new.get("Body"))
        return answer

    handlers.update(create=created, update=updated)


def _named(properties: dict[str, Any]) -> dict[str, Any]:
    """The name of an imported API is the title of its document."""
    body = properties.get("Body")
    return {**properties, "Name": body["info"]["title"]} if body else properties


def _import(gateway: Any, api: str, body: dict[str, Any] | None) -> None:
    if not body:
        return
    parts = body["components"]
    integrations = {
        name: {
            "integrationId": name,
            "integrationType": one["type"].upper(),
            "integrationMethod": one["httpMethod"],
            "integrationUri": one["uri"],
            "credentialsArn": one["credentials"],
            "payloadFormatVersion": one["payloadFormatVersion"],
            "timeoutInMillis": int(one["timeoutInMillis"]),
            "connectionType": "INTERNET",
        }
        for name, one in parts["x-amazon-apigateway-integrations"].items()
    }
    authorizers = {
        name: _authorizer(name, one["x-amazon-apigateway-authorizer"])
        for name, one in parts["securitySchemes"].items()
        if "x-amazon-apigateway-authorizer" in one
    }
    routes = [
        _route(key_of(method, path), operation, parts["securitySchemes"])
        for path, operations in body["paths"].items()
        for method, operation in operations.items()
    ]
    gateway._integrations[api] = integrations
    gateway._authorizers[api] = authorizers
    gateway._routes[api] = {route["routeId"]: route for route in routes}


def key_of(method: str, path: str) -> str:
    """Of a route, as API Gateway names it."""
    return path if path == "$default" else f"{method.upper()} {path}"


def _authorizer(name: str, written: dict[str, Any]) -> dict[str, Any]:
    return {
        "authorizerId": name,
        "name": name,
        "authorizerType": written["type"].upper(),
        "identitySource": [written["identitySource"]],
        "jwtConfiguration": written["jwtConfiguration"],
    }


def _route(key: str, operation: dict[str, Any], schemes: dict[str, Any]) -> dict[str, Any]:
    """One that says nothing of its security is open, as on AWS."""
    integration = operation["x-amazon-apigateway-integration"]["$ref"].rpartition("/")[2]
    [scheme] = [name for alternative in operation.get("security", []) for name in alternative] or [""]
    signed = scheme and schemes[scheme].get("x-amazon-apigateway-authtype") == "awsSigv4"
    return {
        "routeId": re.sub(r"[^A-Za-z0-9]+", "-", key),
        "routeKey": key,
        "target": f"integrations/{integration}",
        "authorizationType": "AWS_IAM" if signed else "JWT" if scheme else "NONE",
        "authorizerId": None if signed or not scheme else scheme,
        "authorizationScopes": [],
        "apiKeyRequired": False,
    }
