"""The template as CloudFormation would have it with all parameters at their defaults: the loops are written out."""

from collections import Counter
from typing import Final

from tests.cfn import expanded
from tests.frozen.files import FOLDER, text_of

TEMPLATE: Final = FOLDER / "template.json"


def counts() -> dict[str, int]:
    """How many resources of each type there are."""
    return dict(Counter(str(resource["Type"]) for resource in expanded()["Resources"].values()))


def text() -> str:
    """As it is on file: first the counts, then all of it."""
    return text_of({"resources": {"in all": sum(counts().values()), **counts()}, "template": expanded()})
