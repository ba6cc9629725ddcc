"""`make endpoints`: of botocore's endpoints, those of the services that Delayer calls (ADR 0117).

botocore's own file has those of some four hundred services, and each cold start would read it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from botocore.loaders import Loader

from delayer.engines.aws.start import ENDPOINTS, SERVICES

RENAMED: Final = {"stepfunctions": "states"}  # the name of its endpoint; that of the others is the service's


def endpoints() -> Mapping[str, Any]:
    """As botocore reads them."""
    everything = Loader().load_data("endpoints")
    names = {RENAMED.get(service, service) for service in SERVICES}
    partitions = [
        {**one, "services": {name: service for name, service in one["services"].items() if name in names}}
        for one in everything["partitions"]
    ]
    return {**everything, "partitions": partitions}


def written() -> str:
    """The text of the file."""
    return json.dumps(endpoints(), separators=(",", ":"), sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(ENDPOINTS).write_text(written(), encoding="utf-8")
