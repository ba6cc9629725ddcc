"""Asks a person some questions before a deployment, and keeps the answers in a file."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from operate.deploy.errors import TemplateError
from operate.deploy.values import problem_of

REGION: Final = "region"
NOWHERE: Final = "nowhere"
E_MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

Ask = Callable[[str], str]  # shows a question, and returns the line that is typed


@frozen(kw_only=True)
class Question:
    """One of them; Enter takes what stands in brackets."""

    name: str  # of the parameter, or `region`
    text: str
    pattern: re.Pattern[str]
    wrong: str  # what is said of an answer that does not match
    default: str = ""
    shown: str = ""  # in place of an empty default
    values: Mapping[str, str] = field(factory=dict)  # what an answer stands for, where that is another text

    def put(self, kept: str, ask: Ask, say: Callable[[str], object]) -> str:
        """The answer; asked again for one that is wrong. `kept` is the answer of last time, or what the stack has."""
        default = kept if self.pattern.fullmatch(kept) else self.default
        while True:
            typed = ask(f"{self.text} [{default or self.shown}]: ").strip()
            answer = self.values.get(typed, typed) if typed else default
            if self.pattern.fullmatch(answer):
                return answer
            say(self.wrong)


WHERE: Final = Question(
    name=REGION,
    text="Region",
    pattern=re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+"),
    wrong="A region is like eu-west-1.",
)
WHO: Final = Question(
    name="ApiAuthorization",
    text="Who may call the API: AWS_IAM for signed requests, JWT for tokens of an issuer of yours",
    pattern=re.compile("AWS_IAM|JWT"),
    wrong="Type AWS_IAM or JWT.",
    default="AWS_IAM",
    values={"iam": "AWS_IAM", "aws_iam": "AWS_IAM", "jwt": "JWT"},
)
ISSUER: Final = Question(
    name="JwtIssuer",
    text="The issuer of the tokens, as in their claim iss",
    pattern=re.compile("https://.+"),
    wrong="It begins with https://",
    shown="no default",
)
AUDIENCE: Final = Question(
    name="JwtAudience",
    text="The audience that the tokens name",
    pattern=re.compile("[!-~]+"),
    wrong="It is a word without spaces.",
    shown="no default",
)
ALARMS: Final = Question(
    name="AlarmEmail",
    text=f"Where alarms go, an e-mail address, or {NOWHERE}",
    pattern=re.compile(f"({E_MAIL.pattern})?"),
    wrong=f"An e-mail address is like ops@example.com; {NOWHERE} is allowed, too.",
    shown=NOWHERE,
    values={NOWHERE: ""},
)


def asked(kept: Mapping[str, str], ask: Ask, say: Callable[[str], object]) -> dict[str, str]:
    """All but the region, which comes first: what a stack has there is `kept`, and else the answers of last time."""
    answers = {WHO.name: WHO.put(kept.get(WHO.name, ""), ask, say)}
    for one in (ISSUER, AUDIENCE) if answers[WHO.name] == "JWT" else ():
        answers[one.name] = one.put(kept.get(one.name, ""), ask, say)
    answers[ALARMS.name] = ALARMS.put(kept.get(ALARMS.name, ""), ask, say)
    return answers


def read(file: Path, stack: str) -> dict[str, str]:
    """The answers for this stack. Errors: TemplateError."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TemplateError(f"{file.name} cannot be read: {error}. Mend it, or delete it: it is asked anew.") from error
    return {name: str(value) for name, value in tables.get(stack, {}).items()}


def write(file: Path, stack: str, answers: Mapping[str, str]) -> None:
    """Beside those for other stacks."""
    others: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    tables = {**others, stack: answers}
    lines = [
        "# What `make deploy` was answered, by the name of the stack. It is not in git; delete it to be asked anew."
    ]
    for name, table in sorted(tables.items()):
        lines += ["", f"[{json.dumps(name)}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def allowed(declared: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, str]:
    """Those that the template takes: a file of an older checkout may have others."""
    return {
        name: value for name, value in answers.items() if name in declared and not problem_of(declared[name], value)
    }
