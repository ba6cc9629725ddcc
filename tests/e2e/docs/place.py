"""Where the blocks of the pages are run: the ports, ids and instants of a page become those that are there."""

import re
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

from attrs import define, field

from local.key_pair import REGION
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.cfn import ROOT
from tests.e2e.client import Served

WRITTEN_AT: Final = datetime(2026, 11, 21, 8, 58, 30, tzinfo=UTC)  # when the examples were, by their own instants
INSTANT: Final = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
SCHEDULE_ID: Final = re.compile(r"\b0[0-9a-v]{40,60}\b")
SERIES_ID: Final = re.compile(r"\b[0-9a-f]{32}\b")
# Beside what stands in the page: an answer of 400 or more ends the block; the owner is one of this tab alone; and
# nothing is installed because a file is newer here.
STAND_INS: Final = {
    "curl": """case " $*" in *" -f"*) ;; *) set -- --fail-with-body "$@" ;; esac
exec /usr/bin/curl -H "Delayer-Owner: $DELAYER_OWNER" "$@"
""",
    "make": "exec /usr/bin/make -o .venv/installed-serve -o .venv/installed-local -o .venv/installed \\\n"
    '  -o .venv/installed-docs "$@"',
}


@define(kw_only=True, slots=False)
class Place:
    """The engine, and how a block becomes one for it."""

    served: Served
    data: Path  # the folder of the engine
    receiver: Receiver
    folder: Path
    ids: dict[str, dict[re.Pattern[str], str]] = field(factory=dict)  # of each session, the last of each kind

    def moved(self, text: str, session: str) -> str:
        """The block as it is run here."""
        for shown, here in self.moves.items():
            text = text.replace(shown, here)
        for kind, last in self.ids.get(session, {}).items():
            text = kind.sub(last, text)
        return INSTANT.sub(lambda found: shifted(found[0]), text)

    @property
    def moves(self) -> dict[str, str]:
        """What the text of a page becomes here."""
        return {
            "localhost:8080": f"localhost:{self.served.port}",
            "/var/lib/delayer": str(self.data),
            "127.0.0.1:8082": self.receiver.url.removeprefix("http://"),
        }

    def notice(self, shown: str, session: str) -> None:
        """An id on a page stands for the last one that was answered there."""
        for kind in (SCHEDULE_ID, SERIES_ID):
            if found := kind.findall(shown):
                self.ids.setdefault(session, {})[kind] = found[-1]

    def environment(self, owner: str) -> dict[str, str]:
        """What a reader of the page has set: `.venv/bin` on the path."""
        work = self.work_of(owner)
        return {
            "PATH": f"{self.programs}:{ROOT / '.venv/bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(work),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONPATH": f"{ROOT / 'shared'}:{ROOT / 'client'}:{ROOT}",
            "DELAYER_URL": self.served.api_url,
            "DELAYER_OWNER": owner,
            "DELAYER_CONFIG": str(work / "config.toml"),
        }

    def work_of(self, owner: str) -> Path:
        """A folder for what a session writes."""
        work = self.folder / owner
        work.mkdir(exist_ok=True)
        return work

    @cached_property
    def programs(self) -> Path:
        """The stand-ins, before the programs themselves."""
        folder = self.folder / "programs"
        folder.mkdir()
        for name, text in STAND_INS.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        return folder


@define(kw_only=True, slots=False)
class PlaceOnAws(Place):
    """The stack, for the blocks that speak of AWS."""

    served: EmulatedStack

    @property
    def moves(self) -> dict[str, str]:
        aws = {
            "127.0.0.1:8081": f"127.0.0.1:{self.served.aws_port}",
            ".local/8080": f".local/{self.served.port}",
        }
        return super().moves | aws

    def environment(self, owner: str) -> dict[str, str]:
        """The exports of `make local-aws`, too."""
        pair = self.served.pair
        return super().environment(owner) | {
            "AWS_ENDPOINT_URL": self.served.aws_endpoint_url,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": pair.access_key_id,
            "AWS_SECRET_ACCESS_KEY": pair.secret_access_key,
        }


def shifted(instant: str) -> str:
    """An instant of an example, as far from now as it was when the example was."""
    at = datetime.fromisoformat(instant) + (datetime.now(UTC) - WRITTEN_AT)
    return f"{at.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
