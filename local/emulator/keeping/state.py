"""The paths `/_local/…` by which the starter has the emulator put back, begin, come to rest, and save."""

import asyncio
import importlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import evolve

from local.emulator.asgi import Receive, Send, body_of, respond, respond_json
from local.emulator.aws_port import Serve
from local.emulator.keeping.contents import carried_in, collected, waiting_in
from local.emulator.keeping.doors import Doors, Opening
from local.emulator.keeping.filling import Misfit, fill_stack
from local.emulator.keeping.under_way import UnderWay
from local.emulator.keeping.work import Work
from local.emulator.patches.install import Corrections
from local.errors import EmulatorError
from local.keeping.manifest import Manifest
from local.keeping.saved import contents_in, write

LAST_REQUESTS_SECONDS = 2.0


class State:
    """The state that a stack keeps, in this folder. It begins nothing before it is released."""

    def __init__(self, folder: Path, corrections: Corrections) -> None:
        self.folder = folder
        self.corrections = corrections
        self.doors, self.work = Doors(), Work()
        modules = [importlib.import_module(f"ministack.services.{name}") for name in NAMES]
        self.lambda_service, self.rules = modules
        self.work.install(self.lambda_service, self.rules)
        self.work.hold()
        self.under_way = UnderWay(self.lambda_service, self.doors, self.work, corrections.streams)

    def paths(self) -> Mapping[str, Serve]:
        """The paths that are served, each by a PUT."""
        return {
            "/_local/state/fill": self.fill,
            "/_local/state/release": self.release,
            "/_local/state/rest": self.rest,
            "/_local/state/left": self.left,
            "/_local/state/save": self.save,
        }

    async def fill(self, receive: Receive, send: Send) -> None:
        """Fill the stack with what is saved. 409 if it does not fit; then nothing was changed."""
        await body_of(receive)
        try:
            await asyncio.to_thread(self.read_and_fill)
        except (Misfit, EmulatorError) as error:
            await respond(send, 409, str(error))
        else:
            await respond(send, 200, "The state is there again.")

    def read_and_fill(self) -> None:
        """Read, and put back."""
        manifest, contents = contents_in(self.folder)
        fill_stack(contents, manifest.saved_at, self.corrections.index, self.corrections.streams)

    async def release(self, receive: Receive, send: Send) -> None:
        """Begin. With `{"ticks": true}` all ticks are made at once: much may be overdue."""
        if json.loads(await body_of(receive)).get("ticks"):
            for key in self.rules._rules._data:
                self.rules._rule_last_fired[key] = 0.0
        self.work.release()
        self.lambda_service._esm_wake.set()
        await respond(send, 200, "Everything runs.")

    async def rest(self, receive: Receive, send: Send) -> None:
        """Let nobody in any more, and begin nothing but what is in the streams."""
        await body_of(receive)
        self.doors.opening = Opening.FUNCTIONS
        self.work.rest()
        await self.answer_left(send)

    async def left(self, receive: Receive, send: Send) -> None:
        """Says what is under way."""
        await body_of(receive)
        await self.answer_left(send)

    async def answer_left(self, send: Send) -> None:
        """As an object: in words, how many."""
        await respond_json(send, 200, await asyncio.to_thread(self.under_way.left))

    async def save(self, receive: Receive, send: Send) -> None:
        """Write the state, with the manifest that is given; the whole manifest. Whatever still runs changes nothing."""
        manifest = Manifest(**json.loads(await body_of(receive)))
        self.work.rest()
        self.doors.opening = Opening.NOBODY
        for _ in range(int(LAST_REQUESTS_SECONDS / 0.01)):
            if not any(self.doors.inside.values()):
                break
            await asyncio.sleep(0.01)
        written = await asyncio.to_thread(self.write, manifest)
        await respond_json(send, 200, written.written())

    def write(self, manifest: Manifest) -> Manifest:
        """Collect, and write."""
        contents: dict[str, Any] = collected(self.corrections.streams)
        whole = evolve(
            manifest, emulator=version("ministack"), waiting=waiting_in(contents), carried=carried_in(contents)
        )
        return write(self.folder, whole, contents)


NAMES = ("lambda_svc", "eventbridge")
