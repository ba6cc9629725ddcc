"""The emulator's process: started in a session of its own, with a minimal environment, and ended in every case."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from local.errors import EmulatorError
from local.key_pair import EXPORTS, REGION, KeyPair, write_exports
from local.project import PROJECT

START_SECONDS = 60
# What the executors' TLS and Python itself need. Everything else is left out: it would leak into the Lambda workers.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")


class EmulatorProcess:
    """Starts and ends `python -m local.emulator` on two ports, with its files in a folder of its own.

    `pair` may do everything at its AWS port. The folder has it as shell exports while the process runs.
    """

    def __init__(
        self, aws_port: int, api_port: int, folder: Path, metering: bool, pair: KeyPair, *, tls: bool = False
    ) -> None:
        self.aws_port = aws_port
        self.api_port = api_port
        self.folder = folder
        self.metering = metering
        self.pair = pair
        self.tls = tls
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The AWS endpoint."""
        return f"http://127.0.0.1:{self.aws_port}"

    @property
    def exports(self) -> Path:
        """The file with the pair, for a shell."""
        return self.folder / EXPORTS

    @property
    def log_file(self) -> Path:
        """The file into which the emulator itself logs."""
        return self.folder / "emulator.log"

    def start(self) -> None:
        """Start the process. It can be asked when `wait_until_ready` has returned."""
        self.empty_folder()
        write_exports(self.folder, self.pair, self.url)
        with self.log_file.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "local.emulator"],
                cwd=PROJECT,
                env=self.environment(),
                stdin=subprocess.PIPE,  # its end shows the process that we have ended
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that its Lambda workers end with it, and Ctrl-C reaches only us
            )

    def empty_folder(self) -> None:
        """Delete the logs and worker folders of an earlier run on this port."""
        for earlier in self.folder.iterdir() if self.folder.exists() else ():
            shutil.rmtree(earlier) if earlier.is_dir() else earlier.unlink()
        for name in ("logs", "tmp", "s3"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """The whole environment of the process, and so of the Lambda workers."""
        settings = {
            "GATEWAY_PORT": str(self.aws_port),
            "BIND_HOST": "127.0.0.1",
            "LAMBDA_ACCOUNT_CONCURRENCY": "1000",  # AWS's default; ministack would go by this machine's memory
            "MINISTACK_REGION": REGION,
            # Every function runs under its own role, as on AWS: a missing permission shows here first.
            "AUTH": "true",
            # Its root user. The functions get their own credentials in place of these.
            "AWS_ACCESS_KEY_ID": self.pair.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.pair.secret_access_key,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "LOG_LEVEL": os.environ.get("EMULATOR_LOG_LEVEL", "WARNING"),
            "TMPDIR": str(self.folder / "tmp"),
            "S3_DATA_DIR": str(self.folder / "s3"),
            # Otherwise ministack would remove containers of another ministack on this machine.
            "DOCKER_HOST": f"unix://{self.folder}/no-docker",
            # Its servers for these two protocols are not needed.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "DELAYER_API_PORT": str(self.api_port),
            "DELAYER_LOG_FOLDER": str(self.folder / "logs"),
            "DELAYER_METERING": "1" if self.metering else "",
            "DELAYER_TLS": "1" if self.tls else "",
        }
        return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | settings

    def wait_until_ready(self) -> None:
        """Wait for the first response; EmulatorError if there is none."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                raise EmulatorError(f"The emulator did not start: {self.last_line()} (see {self.log_file})")
            try:
                opener.open(self.pair.signed("GET", f"{self.url}/_ministack/health"), timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        raise EmulatorError(f"The emulator did not respond within {START_SECONDS} s; see {self.log_file}.")

    def is_running(self) -> bool:
        """Whether the process is running."""
        return self.process is not None and self.process.poll() is None

    def last_line(self) -> str:
        """The last line of the log; after a failure it names the error."""
        lines = self.log_file.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it logged nothing")

    def stop(self) -> None:
        """Kill the process and its Lambda workers."""
        self.exports.unlink(missing_ok=True)
        process, self.process = self.process, None
        if process is None:
            return
        with suppress(ProcessLookupError):  # it has already ended, and its workers with it
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin:
            process.stdin.close()
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
