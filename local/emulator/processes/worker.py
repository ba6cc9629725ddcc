"""An execution environment of a Python function, as ministack's runtime knows one: forked, and asked over a socket."""

import os
import socket
import threading
import time
from typing import Any, Final

from local.emulator.processes.forked_process import ForkedProcess, Log
from local.emulator.processes.parent_process import messages
from local.emulator.processes.parents import PASSED_ON, Parents

LONGEST_START: Final = 60.0  # s; on AWS it is 10, but a machine that is busy may need more
# Lambda's names of its own variables: those of a function cannot change them.
TASK_ROOT: Final = "LAMBDA_TASK_ROOT"


class ForkedWorker:
    """Takes the place of ministack's class Worker. `runtime` is the module that has it."""

    def __init__(self, runtime: Any, parents: Parents, func_name: str, config: dict[str, Any], code_zip: bytes) -> None:
        self.runtime, self.parents = runtime, parents
        self.func_name, self.config, self.code_zip = func_name, config, code_zip
        # ministack's names: its pool of workers reads and sets these.
        self.in_use = False
        self.last_used = time.time()
        self._proc: ForkedProcess | None = None
        self._lock = threading.Lock()
        self._cold = True
        self._start_time: float | None = None
        self._log: Log | None = None

    def _spawn(self) -> None:
        """Start the process, and wait until it has imported the handler. RuntimeError if it cannot."""
        folder = self.parents.unpacked(self.code_zip)
        layers = layers_of(self.config)
        self._log = Log()
        ours, theirs = socket.socketpair()
        with theirs:
            order = {"kind": "function", **self._order(folder)}
            number = self.parents.fork(layers, order, theirs.fileno(), self._log.file.fileno())
            self._proc = ForkedProcess(number, ours)
        try:
            answer = messages.receive(ours, LONGEST_START)
        except TimeoutError:
            self._end()  # or its answer would be taken for that to its first event
            raise RuntimeError(f"The function has not started within {LONGEST_START:.0f} seconds") from None
        except (EOFError, OSError):
            self._end()
            raise RuntimeError(f"Worker process exited immediately. stderr: {self._log.new()}") from None
        if answer["status"] != "ready":
            self._end()
            raise RuntimeError(f"Worker init failed: {answer['error']}")
        self._start_time = time.time()

    def _order(self, folder: str) -> dict[str, Any]:
        module, name = self.config.get("Handler", "index.handler").replace("/", ".").rsplit(".", 1)
        return {"folder": folder, "module": module, "handler": name, "environment": self._environment(folder)}

    def _environment(self, folder: str) -> dict[str, str]:
        """As on AWS: the function's variables, and Lambda's own, which these cannot change."""
        config, runtime = self.config, self.runtime
        _account, region = runtime._account_region_from_function_config(config)
        own = config.get("Environment", {}).get("Variables", {})
        machine = {name: os.environ[name] for name in (*PASSED_ON, "AWS_CA_BUNDLE") if name in os.environ}
        return {
            **machine,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_ENDPOINT_URL": os.environ.get("DELAYER_ENDPOINT_OF_FUNCTIONS")
            or f"http://127.0.0.1:{os.environ['GATEWAY_PORT']}",
            runtime.HOST_PREFIX_ENV: "true",
            **own,
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            **runtime.execution_credentials(config),
            TASK_ROOT: folder,
            "AWS_LAMBDA_FUNCTION_NAME": config["FunctionName"],
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(config.get("MemorySize", 128)),
            "AWS_LAMBDA_FUNCTION_VERSION": config.get("Version", "$LATEST"),
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{config['FunctionName']}",
            "AWS_LAMBDA_LOG_STREAM_NAME": os.urandom(16).hex(),
            "_LAMBDA_FUNCTION_ARN": config.get("FunctionArn", ""),
            "_LAMBDA_TIMEOUT": str(config.get("Timeout", 30)),
        }

    def invoke(
        self,
        event: Any,
        request_id: str,
        *,
        trace_id: str | None = None,
        depth: Any = None,
        durable: dict[str, str] | None = None,
        invoked_function_arn: str | None = None,
    ) -> dict[str, Any]:
        """One invocation. What it raises is in the result; an environment that ran out of time is ended."""
        variables = {
            "_X_AMZN_TRACE_ID": trace_id,
            self.runtime.INVOKE_DEPTH_ENV: None if depth is None else str(depth),
            **{name: (durable or {}).get(name) for name in self.runtime.DURABLE_ENV_VARS},
        }
        arn = self.config.get("FunctionArn", "") if invoked_function_arn is None else invoked_function_arn
        invocation = {"event": event, "request_id": request_id, "arn": arn, "environment": variables}
        with self._lock:
            if cold := self._proc is None or self._proc.poll() is not None:
                self._spawn()
                self._cold = False
            answer = self._answer(invocation)
            return {**answer, "cold_start": cold, "log": self._log.new() if self._log else ""}

    def _answer(self, invocation: dict[str, Any]) -> dict[str, Any]:
        process, seconds = self._proc, float(self.config.get("Timeout", 30))
        assert process
        try:
            messages.send(process.channel, invocation)
            answer: dict[str, Any] = messages.receive(process.channel, seconds)
            return answer
        except TimeoutError:
            self._end()
            return {"status": "error", "error": f"Task timed out after {seconds:.2f} seconds"}
        except (EOFError, OSError):
            self._end()
            return {"status": "error", "error": "Worker process died"}

    def _end(self) -> None:
        process, self._proc = self._proc, None
        self.runtime._signal(process)
        self.runtime._collect(process, time.monotonic() + self.runtime._REAP_GRACE)

    def kill(self) -> None:
        """ministack ends workers by this."""
        self.runtime.kill_workers([self])

    def _discard_tmpdir(self) -> None:
        if self._log:
            self._log.file.close()
            self._log = None


def layers_of(config: dict[str, Any]) -> list[bytes]:
    """The archives of a function's layers. RuntimeError if one cannot be found."""
    from ministack.services.lambda_svc import _resolve_layer_zip  # which imports the runtime that we are part of

    layers = config.get("Layers", [])
    return [archive for layer in layers if (archive := _resolve_layer_zip(layer))]
