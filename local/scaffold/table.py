"""The line of an executor or a subscriber in the table of its kind, in the Mappings of template.yaml."""

import re

from local.scaffold.kind import Kind

PLACEHOLDER = "    none: {Needs: nothing} # CloudFormation takes no table without a line\n"


def without_row(template: str, kind: Kind, name: str) -> tuple[str, str]:
    """The template without the line of this name, and that line; empty if it has none."""
    tables = re.compile(rf"^  {kind.table}:\n(?:    .*\n)+", re.MULTILINE)  # a parameter has the same name
    table = tables.search(template, template.find("\nMappings:\n"))
    row = re.search(rf"^    {name}:(?: .*)?\n(?:     .*\n)*", table[0], re.MULTILINE) if table else None
    if not table or not row:
        return template, ""
    rest = table[0].replace(row[0], "", 1)
    if not re.search(r"^    [\w-]+:", rest, re.MULTILINE):
        rest += PLACEHOLDER
    return template[: table.start()] + rest + template[table.end() :], row[0]


def setting_in(row: str) -> str:
    """The parameter or the resource that the function gets as its setting; empty if there is none."""
    found = re.search(r"\bSetting: *[\"']?(\w+)", row)
    return found[1] if found else ""
