"""Lets ministack's runtime fork the processes of Python functions, and end those that are not needed any more."""

import functools
import threading
import time
from typing import Any, Final

from local.emulator.processes.parents import Parents
from local.emulator.processes.worker import ForkedWorker

# Lambda ends an environment minutes after its last invocation. Here a new one takes some hundredths of a second, and
# each takes memory of the user's.
IDLE_SECONDS: Final = 60.0
LOOKED_AT_EACH: Final = 5.0


def fork_functions(runtime: Any, lambda_service: Any, provisioners: Any, parents: Parents) -> None:
    """Let ministack's runtime fork the processes of Python functions. Of others it starts an interpreter, as before."""
    others = runtime._worker_class_for

    def class_for(config: dict[str, Any]) -> Any:
        if config.get("Runtime", "").startswith("python"):
            return functools.partial(ForkedWorker, runtime, parents)
        return others(config)

    runtime._worker_class_for = class_for
    lambda_service._ensure_reaper_thread = lambda: None  # it keeps one of each, and looks each half minute
    import_at_publication(provisioners, parents)
    parents.start()
    threading.Thread(target=end_idle, args=(runtime,), daemon=True, name="end-idle").start()


def import_at_publication(provisioners: Any, parents: Parents) -> None:
    """Let a parent import a layer while the rest of the stack is created."""
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Lambda::LayerVersion"]
    create = handlers["create"]

    @functools.wraps(create)
    def created(*arguments: Any) -> Any:
        made = create(*arguments)
        for layer in provisioners._lambda_svc._layers.values():
            parents.of([layer["versions"][-1]["_zip_data"]])
        return made

    handlers["create"] = created


def end_idle(runtime: Any) -> None:
    """End each process that nobody has used for a while, the last one of a function, too."""
    while True:
        time.sleep(LOOKED_AT_EACH)
        end_unused_since(runtime, time.time() - IDLE_SECONDS)


def end_unused_since(runtime: Any, instant: float) -> None:
    """End those whose last invocation began before this instant (epoch seconds)."""
    with runtime._lock:
        pools: dict[str, list[Any]] = runtime._workers
        ended = [one for pool in pools.values() for one in pool if not one.in_use and one.last_used < instant]
        for key, pool in list(pools.items()):
            pools[key] = [one for one in pool if one not in ended]
    runtime.kill_workers(ended)
