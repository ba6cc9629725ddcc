"""Puts Delayer's own code into the wheel: `delayer_client.testing` runs it (ADR 0131).

In a checkout it lies beside client/; in a source distribution, from which a wheel may be built, under `delayer-code/`.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

RUN_HERE = ("api-", "policy-", "executor-", "operator-")  # functions that FakeDelayer or `delayer serve` load
WITHIN = "delayer-code"  # of a source distribution


class DelayersCode(BuildHookInterface):  # type: ignore[type-arg]
    """Run by hatchling for each build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds what is to be in the file that is built. An editable installation finds the checkout itself."""
        root = Path(self.root)
        packed = root / WITHIN
        code = packed if packed.is_dir() else root.parent
        if self.target_name == "wheel":
            package, bundled = "delayer", "delayer/wiring/bundled/{}.py"
        else:
            package, bundled = f"{WITHIN}/shared/delayer", WITHIN + "/functions/{}/app.py"
        if version == "editable":
            return
        build_data["force_include"][str(code / "shared/delayer")] = package
        for path in sorted(code.glob("functions/*/app.py")):
            if path.parent.name.startswith(RUN_HERE):
                build_data["force_include"][str(path)] = bundled.format(path.parent.name)
