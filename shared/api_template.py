"""Writes the parts of template.yaml for the functions behind the API, from `openapi.yaml` and a file in each folder.

`functions/api-…/function.yaml` has what is the function's own, in the words of the template: after a comment that says
what it does, its `Variables`, the `Statements` of its policy, and, where they differ, `Properties` and `Role`. Whatever
is the same for all of them is written here, and which routes they answer in `openapi.yaml`. (ADR 0177)
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
TEMPLATE: Final = ROOT / "template.yaml"
OTHERWISE: Final = "api-default"  # what has no route
SECONDS: Final = 10  # of a function whose Properties say nothing else: `behind-the-api` in the template
LONGER: Final = 2_000  # milliseconds that the API waits beyond that
PLACES: Final = ("the functions behind the API, in the table", "their names", "the functions behind the API")
SECTION: Final = re.compile(r"^(Properties|Role|Variables|Statements): (.+\n(?: .*\n)*)", re.MULTILINE)
SECTIONS: Final = "Variables, Statements, and where they differ Properties and Role, each in brackets"
ROUTE: Final = re.compile(r'^  (\w+): .*RouteKey: "?([^",]+)"?, ', re.MULTILINE)
WIDTH: Final = 120


class Part:
    """The file of a function, and its routes."""

    def __init__(self, name: str, routes: Mapping[str, str]) -> None:
        self.name, self.routes = name, routes  # each route by its logical name
        self.logical = "".join(part.capitalize() for part in name.split("-"))
        path = ROOT / "functions" / name / "function.yaml"
        if not path.is_file():
            raise SystemExit(f"{path.relative_to(ROOT)} is missing: what {name} is given, and what it may do.")
        comment, _, rest = path.read_text().partition("\n")
        self.job = comment.removeprefix("# ")
        rest = re.sub(r"^#.*\n", "", rest, flags=re.MULTILINE)
        self.own = {section: text.strip() for section, text in SECTION.findall(rest)}
        if SECTION.sub("", rest).strip() or not comment.startswith("# ") or "Variables" not in self.own:
            raise SystemExit(f"{path.relative_to(ROOT)} is not a comment that says what it does, and then {SECTIONS}.")

    @property
    def milliseconds(self) -> int:
        """How long the API waits for it."""
        timeout = re.search(r"\bTimeout: (\d+)", self.own.get("Properties", ""))
        return int(timeout[1] if timeout else SECONDS) * 1_000 + LONGER

    def text(self) -> str:
        """Returns the banner, and the lines below it."""
        routes = "".join(
            f'  {logical}: {{<<: *route, Properties: {{<<: *called, RouteKey: "{route}", '
            f'Target: !Sub "integrations/${{{self.logical}Integration}}"}}}}\n'
            for logical, route in self.routes.items()
        )
        return f"  # -------- {self.name}: {self.job}\n\n{self._function()}\n{self._role()}\n{routes}\n"

    def _function(self) -> str:
        more = f" {_inner(self.own['Properties'])}," if "Properties" in self.own else ""
        return (
            f"  {self.logical}: {{<<: *function, Properties: {{<<: *behind-the-api,{more}\n"
            f'    FunctionName: !Sub "${{AWS::StackName}}-{self.name}", CodeUri: functions/{self.name}/,\n'
            f"      Role: !GetAtt {self.logical}Role.Arn, Environment: {{Variables: {{\n"
            f"        AWS_SDK_UA_APP_ID: {self.name}, {_indented(_inner(self.own['Variables']))}}}}}}}}}\n"
        )

    def _role(self) -> str:
        """One that asks nothing may write into the log group of the API alone."""
        role = _indented(_inner(self.own.get("Role", "{<<: *role}")), 4)
        own = self.own.get("Statements", "")
        policy = self.name if own else "logs"
        statements = f"*write-api-logs{',' if own else ''}" + (f"\n        {_indented(_inner(own))}" if own else "")
        return (
            f"  {self.logical}Role: {{Type: AWS::IAM::Role, Properties: {{{role},\n"
            f'    Policies: [{{PolicyName: {policy}, PolicyDocument: {{Version: "2012-10-17", Statement: ['
            f"{statements}]}}}}]}}}}\n"
        )


def _inner(text: str) -> str:
    """Without the brackets."""
    return text[1:-1].strip()


def _indented(text: str, more: int = 6) -> str:
    """Its second line and those after it stand as far in as the first."""
    return text.replace("\n", "\n" + more * " ")


def template_text(openapi: Mapping[str, Any]) -> str:
    """`template.yaml` with the functions behind the API as they are now."""
    text = TEMPLATE.read_text()
    parts = parts_of(openapi, {key: name for name, key in ROUTE.findall(text)})
    made = (
        "".join(f"    {one.logical}: {{Name: {one.name}, ApiTimeoutMillis: {one.milliseconds}}}\n" for one in parts),
        "".join(_wrapped([one.logical for one in parts])),
        "".join(one.text() for one in parts),
    )
    for place, new in zip(PLACES, made, strict=True):
        text = _having(text, place, new)
    return text


def parts_of(openapi: Mapping[str, Any], known: Mapping[str, str]) -> list[Part]:
    """In the order of the contract. `known` are the logical names that routes have: a route keeps its name."""
    routes: dict[str, dict[str, str]] = {}
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                route, name = f"{method.upper()} {path}", operation["operationId"]
                logical = known.get(route, f"{name[0].upper()}{name[1:]}Route")
                routes.setdefault(operation["x-delayer-function"], {})[logical] = route
    routes[OTHERWISE] = {known.get("$default", "DefaultRoute"): "$default"}
    return [Part(name, own) for name, own in routes.items()]


def _wrapped(names: list[str]) -> Iterator[str]:
    """A list of them, in lines that are not too long."""
    line = "    - ["
    for number, name in enumerate(names):
        last = number == len(names) - 1
        if len(line) + len(name) > WIDTH:
            yield line.rstrip() + "\n"
            line = "       "
        line += name + ("]" if last else ", ")
    yield line + "\n"


def _having(text: str, place: str, new: str) -> str:
    """With the lines between two comments replaced."""
    found = re.search(rf"^ *# ---- {place}: written by `make contract`.*\n", text, re.MULTILINE)
    ends = re.search(rf"^ *# ---- end of {place}\n", text, re.MULTILINE)
    if not found or not ends:
        raise SystemExit(f"template.yaml has no place for what is made of openapi.yaml: {place}.")
    return text[: found.end()] + new + text[ends.start() :]
