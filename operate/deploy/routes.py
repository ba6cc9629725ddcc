"""Gathers the routes of an HTTP API into its `Body` (ADR 0160).

In a template each route stands with its function, as a resource of its own. Many of them that are made at once meet
API Gateway's refusal of concurrent modifications, and each is one of the 500 resources of a stack. CloudFormation is
given one document, which API Gateway imports in one call. Everything in it is as AWS documents it for HTTP APIs:
integrations that several routes share (x-amazon-apigateway-integrations), signatures as a security scheme
(x-amazon-apigateway-authtype: awsSigv4), tokens as another (x-amazon-apigateway-authorizer).
"""

from collections.abc import Mapping
from typing import Any, Final

from operate.deploy.errors import TemplateError

API: Final = "AWS::ApiGatewayV2::Api"
ROUTE: Final = "AWS::ApiGatewayV2::Route"
INTEGRATION: Final = "AWS::ApiGatewayV2::Integration"
AUTHORIZER: Final = "AWS::ApiGatewayV2::Authorizer"
GATHERED: Final = (ROUTE, INTEGRATION, AUTHORIZER)
SIGNED: Final = "signed"
SCHEME_OF_SIGNATURES: Final = {
    "type": "apiKey",
    "name": "Authorization",
    "in": "header",
    "x-amazon-apigateway-authtype": "awsSigv4",
}
NOTHING: Final = {"Ref": "AWS::NoValue"}
RESPONSES: Final = {"default": {"description": "See openapi.yaml."}}

Resources = Mapping[str, dict[str, Any]]


def with_gathered_routes(template: Mapping[str, Any]) -> dict[str, Any]:
    """The same template, each API with its routes, without their resources. Errors: TemplateError."""
    resources: Resources = template.get("Resources", {})
    conditions: dict[str, Any] = {}
    made = {name: one for name, one in resources.items() if one.get("Type") not in GATHERED}
    for name, resource in made.items():
        if resource.get("Type") == API and (own := _of_api(resources, name)):
            properties = {key: value for key, value in resource["Properties"].items() if key != "ProtocolType"}
            body = _document(own, properties.pop("Name"), conditions)
            made[name] = {**resource, "Properties": {**properties, "Body": body}}
    if not conditions:
        return {**template, "Resources": made}
    return {**template, "Conditions": {**template.get("Conditions", {}), **conditions}, "Resources": made}


def _of_api(resources: Resources, api: str) -> Resources:
    return {
        name: one
        for name, one in resources.items()
        if one.get("Type") in GATHERED and one["Properties"].get("ApiId") == {"Ref": api}
    }


def _of_type(resources: Resources, kind: str) -> Resources:
    return {name: one for name, one in resources.items() if one["Type"] == kind}


def _document(own: Resources, title: Any, conditions: dict[str, Any]) -> dict[str, Any]:
    """The document that API Gateway imports. The name of an imported API is its title."""
    integrations = _of_type(own, INTEGRATION)
    paths: dict[str, dict[str, Any]] = {}
    for name, route in _of_type(own, ROUTE).items():
        properties = route["Properties"]
        target = str(properties["Target"].get("Fn::Sub", "")).removeprefix("integrations/${").removesuffix("}")
        if target not in integrations:
            raise TemplateError(f"The route {name} has a Target that is no integration of its API.")
        method, _, path = properties["RouteKey"].partition(" ")
        operation: dict[str, Any] = {
            "responses": RESPONSES,
            "security": _security(properties, conditions),
            "x-amazon-apigateway-integration": {"$ref": f"#/components/x-amazon-apigateway-integrations/{target}"},
        }
        if properties["RouteKey"] == "$default":
            paths["$default"] = {"x-amazon-apigateway-any-method": {"isDefaultRoute": True, **operation}}
        else:
            paths.setdefault(path, {})[method.lower()] = operation
    return {
        "openapi": "3.0.1",
        "info": {"title": title, "version": "1.0"},
        "paths": paths,
        "components": {
            "securitySchemes": {
                SIGNED: SCHEME_OF_SIGNATURES,
                **{name: _scheme(one) for name, one in _of_type(own, AUTHORIZER).items()},
            },
            "x-amazon-apigateway-integrations": {
                name: _integration(one["Properties"]) for name, one in integrations.items()
            },
        },
    }


def _integration(properties: Mapping[str, Any]) -> dict[str, Any]:
    match properties["IntegrationUri"]:
        case {"Fn::GetAtt": [str(function), "Arn"]}:
            arn = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"
            uri = {"Fn::Sub": f"{arn}${{{function}.Arn}}/invocations"}
        case other:
            raise TemplateError(f"An integration has the address {other}, which is no function of the template.")
    return {
        "type": "aws_proxy",
        "httpMethod": "POST",
        "uri": uri,
        "credentials": properties["CredentialsArn"],
        "payloadFormatVersion": properties["PayloadFormatVersion"],
        "timeoutInMillis": properties["TimeoutInMillis"],
    }


def _scheme(authorizer: Mapping[str, Any]) -> Any:
    properties = authorizer["Properties"]
    [source] = properties["IdentitySource"]
    configuration = properties["JwtConfiguration"]
    scheme = {
        "type": "oauth2",
        "x-amazon-apigateway-authorizer": {
            "type": "jwt",
            "identitySource": source,
            "jwtConfiguration": {"issuer": configuration["Issuer"], "audience": configuration["Audience"]},
        },
    }
    condition = authorizer.get("Condition")
    return {"Fn::If": [condition, scheme, NOTHING]} if condition else scheme


def _security(route: Mapping[str, Any], conditions: dict[str, Any]) -> Any:
    """Says who may call. A route that has no tokens and is not said to be open is signed, so nothing is open by
    mistake.
    """
    match route["AuthorizationType"]:
        case {"Ref": str(parameter)}:
            is_open = f"{parameter}IsNone"
            conditions[is_open] = {"Fn::Equals": [{"Ref": parameter}, "NONE"]}
            signed: Any = {"Fn::If": [is_open, [], [{SIGNED: []}]]}
        case "AWS_IAM":
            signed = [{SIGNED: []}]
        case other:
            raise TemplateError(f"The route {route['RouteKey']} has the AuthorizationType {other}: name a parameter.")
    match route.get("AuthorizerId"):
        case {"Fn::If": [str(condition), {"Ref": str(authorizer)}, dict(otherwise)]} if otherwise == NOTHING:
            return {"Fn::If": [condition, [{authorizer: []}], signed]}
        case None:
            return signed
    raise TemplateError(f"The route {route['RouteKey']} has an AuthorizerId that is not understood.")
