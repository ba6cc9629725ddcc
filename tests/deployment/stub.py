"""As much of S3, CloudFormation and Lambda as the SAM CLI and `make deploy` need. It keeps what it was sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit
from xml.sax.saxutils import escape

import yaml
from attrs import define, field
from samtranslator.yaml_helper import intrinsics_multi_constructor

BUCKET = "aws-sam-cli-managed-default-samclisourcebucket-stub"
ACCOUNT = "123456789012"
NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/"


class _Loader(yaml.CSafeLoader):
    """SAM writes the short forms of functions."""


_Loader.add_multi_constructor("!", intrinsics_multi_constructor)


@define(kw_only=True)
class Deployment:
    """What CloudFormation was asked for."""

    stack: str
    kind: str  # CREATE or UPDATE
    text: str  # of the template
    parameters: dict[str, str]  # without those that keep their values
    kept: list[str]  # parameters that do
    capabilities: list[str]
    tags: dict[str, str]

    @property
    def template(self) -> dict[str, Any]:
        """The template."""
        loaded: dict[str, Any] = yaml.load(self.text, _Loader)
        return loaded


@define(kw_only=True)
class Account:
    """What is in it."""

    concurrency: int = 10
    objects: dict[str, bytes] = field(factory=dict)
    parts: dict[str, dict[int, bytes]] = field(factory=dict)  # of uploads that have not ended
    stacks: dict[str, dict[str, Any]] = field(factory=dict)  # name -> status, parameters, outputs
    deployments: list[Deployment] = field(factory=list)
    events: list[tuple[str, str, str]] = field(factory=list)  # stack, status, time

    def answer(self, request: dict[str, str]) -> str:
        """CloudFormation's, to one call."""
        action: Any = getattr(self, request["Action"])
        result = action(request)
        name = request["Action"]
        return f'<{name}Response xmlns="{NAMESPACE}"><{name}Result>{result}</{name}Result></{name}Response>'

    def DescribeStacks(self, request: dict[str, str]) -> str:  # noqa: N802 - as the call is named
        """The bucket's stack is there from the start."""
        name = request["StackName"].rpartition(":stack/")[2].partition("/")[0] or request["StackName"]
        name = name.partition("/")[0]
        found: dict[str, Any]
        if name == "aws-sam-cli-managed-default":
            found = {"status": "CREATE_COMPLETE", "parameters": {}, "outputs": {"SourceBucket": BUCKET}}
            tags = members([{"Key": "ManagedStackSource", "Value": "AwsSamCli"}])
        elif name in self.stacks:
            found = self.stacks[name]
            tags = members([{"Key": key, "Value": value} for key, value in found["tags"].items()])
        else:
            raise LookupError(f"Stack with id {name} does not exist")
        pairs = [{"ParameterKey": key, "ParameterValue": value} for key, value in found["parameters"].items()]
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in found["outputs"].items()]
        stack = (
            f"<StackName>{name}</StackName><StackId>{stack_id(name)}</StackId><CreationTime>{now()}</CreationTime>"
            f"<StackStatus>{found['status']}</StackStatus><Parameters>{members(pairs)}</Parameters>"
            f"<Outputs>{members(outputs)}</Outputs><Tags>{tags}</Tags>"
        )
        return f"<Stacks><member>{stack}</member></Stacks>"

    def GetTemplateSummary(self, request: dict[str, str]) -> str:  # noqa: N802
        """The names of the parameters that the stack has."""
        names = self.stacks[request["StackName"]]["parameters"]
        return f"<Parameters>{members([{'ParameterKey': name} for name in names])}</Parameters>"

    def CreateChangeSet(self, request: dict[str, str]) -> str:  # noqa: N802
        """Notes all of it. The template is an object of the bucket."""
        key = request["TemplateURL"].partition(f"/{BUCKET}/")[2].partition("?")[0]
        parameters = listed(request, "Parameters")
        self.deployments.append(
            Deployment(
                stack=request["StackName"],
                kind=request["ChangeSetType"],
                text=self.objects[key].decode(),
                parameters={
                    one["ParameterKey"]: one["ParameterValue"] for one in parameters if "ParameterValue" in one
                },
                kept=[one["ParameterKey"] for one in parameters if "UsePreviousValue" in one],
                capabilities=[value for name, value in request.items() if name.startswith("Capabilities.")],
                tags={one["Key"]: one["Value"] for one in listed(request, "Tags")},
            )
        )
        self.events.insert(0, (request["StackName"], "REVIEW_IN_PROGRESS", now()))
        return f"<Id>{stack_id(request['StackName'])}</Id><StackId>{stack_id(request['StackName'])}</StackId>"

    def DescribeChangeSet(self, request: dict[str, str]) -> str:  # noqa: N802
        """It adds something; SAM refuses one without changes."""
        change = "<Action>Add</Action><LogicalResourceId>Api</LogicalResourceId><ResourceType>X</ResourceType>"
        changes = members([{"Type": "Resource"}]).replace(
            "</member>", f"<ResourceChange>{change}</ResourceChange></member>"
        )
        return f"<Status>CREATE_COMPLETE</Status><Changes>{changes}</Changes>"

    def ExecuteChangeSet(self, request: dict[str, str]) -> str:  # noqa: N802
        """The stack is there at once, with the outputs that are texts, and for the others their names."""
        done, template = self.deployments[-1], self.deployments[-1].template
        before = self.stacks.get(done.stack, {}).get("parameters", {})
        declared = {name: str(one.get("Default", "")) for name, one in template["Parameters"].items()}
        values = {**declared, **{name: before[name] for name in done.kept if name in before}, **done.parameters}
        hidden = {name for name, one in template["Parameters"].items() if one.get("NoEcho")}
        self.stacks[done.stack] = {
            "status": f"{done.kind}_COMPLETE",
            "parameters": {name: "****" if name in hidden else value for name, value in values.items()},
            "outputs": {
                name: one["Value"] if isinstance(one["Value"], str) else f"the {name}"
                for name, one in template["Outputs"].items()
            },
            "tags": done.tags,
        }
        self.events.insert(0, (done.stack, f"{done.kind}_COMPLETE", now()))
        return ""

    def DescribeStackEvents(self, request: dict[str, str]) -> str:  # noqa: N802
        """That of the stack itself: it has ended."""
        name = request["StackName"]
        events = [
            {
                "StackId": stack_id(stack),
                "EventId": f"{stack}-{number}",
                "StackName": stack,
                "LogicalResourceId": stack,
                "PhysicalResourceId": stack_id(stack),
                "ResourceType": "AWS::CloudFormation::Stack",
                "Timestamp": at,
                "ResourceStatus": status,
            }
            for number, (stack, status, at) in enumerate(self.events)
            if stack == name
        ]
        return f"<StackEvents>{members(events)}</StackEvents>"


def now() -> str:
    """As CloudFormation writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def stack_id(name: str) -> str:
    """The ARN."""
    return f"arn:aws:cloudformation:eu-west-1:{ACCOUNT}:stack/{name}/00000000-0000-0000-0000-000000000000"


def members(items: list[dict[str, str]]) -> str:
    """A list of structures."""
    return "".join(
        f"<member>{''.join(f'<{key}>{escape(value)}</{key}>' for key, value in one.items())}</member>" for one in items
    )


def listed(request: dict[str, str], name: str) -> list[dict[str, str]]:
    """A list of structures of a request."""
    found: dict[int, dict[str, str]] = {}
    for key, value in request.items():
        parts = key.split(".")
        if parts[:2] == [name, "member"] and len(parts) == 4:
            found.setdefault(int(parts[2]), {})[parts[3]] = value
    return [found[number] for number in sorted(found)]


class _Handler(BaseHTTPRequestHandler):
    account: Account
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def respond(self, status: int, body: bytes = b"", **headers: str) -> None:
        """The answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self) -> bytes:
        """Of the request."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    @property
    def key(self) -> str:
        """Of an object."""
        return urlsplit(self.path).path.removeprefix(f"/{BUCKET}/")

    @property
    def query(self) -> dict[str, list[str]]:
        """Behind the question mark."""
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    def do_HEAD(self) -> None:
        """Whether an object is there."""
        self.respond(200 if self.key in self.account.objects else 404)

    def do_GET(self) -> None:
        """The account's settings, or where the bucket is."""
        if self.path.rstrip("/").endswith("/account-settings"):
            self.respond(200, f'{{"AccountLimit": {{"ConcurrentExecutions": {self.account.concurrency}}}}}'.encode())
        elif "location" in self.query:
            self.respond(200, b"<LocationConstraint>eu-west-1</LocationConstraint>")
        else:
            self.respond(404)

    def do_PUT(self) -> None:
        """An object, or a part of one."""
        if "uploadId" in self.query:
            self.account.parts[self.query["uploadId"][0]][int(self.query["partNumber"][0])] = self.body()
        else:
            self.account.objects[self.key] = self.body()
        self.respond(200, ETag='"stub"')

    def do_POST(self) -> None:
        """A call of CloudFormation, or the begin and the end of a large upload."""
        content = self.body()
        if "uploads" in self.query:
            self.account.parts[self.key] = {}
            upload = f"<UploadId>{self.key}</UploadId>"
            self.respond(200, f"<InitiateMultipartUploadResult>{upload}</InitiateMultipartUploadResult>".encode())
        elif "uploadId" in self.query:
            parts = self.account.parts.pop(self.query["uploadId"][0])
            self.account.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
            self.respond(200, b'<CompleteMultipartUploadResult><ETag>"stub"</ETag></CompleteMultipartUploadResult>')
        else:
            self.call(dict(parse_qsl(content.decode(), keep_blank_values=True)))

    def call(self, request: dict[str, str]) -> None:
        """One of CloudFormation."""
        try:
            self.respond(200, self.account.answer(request).encode())
        except LookupError as error:
            message = f"<Error><Code>ValidationError</Code><Message>{escape(str(error))}</Message></Error>"
            self.respond(400, f"<ErrorResponse>{message}</ErrorResponse>".encode())


@contextmanager
def serving(account: Account) -> Iterator[str]:
    """Its address, on this machine."""
    handler = type("Handler", (_Handler,), {"account": account})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
