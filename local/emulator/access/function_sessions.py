"""The credentials of functions: ministack computes them from the names of function and role, so that anyone could."""

import hashlib
import hmac
import secrets
from typing import Any

Environment = dict[str, str]


def issue_secret_credentials(lambda_service: Any, runtime: Any, sts: Any) -> None:
    """Give each function a session of its role that nobody can guess. The arguments are ministack's modules.

    All processes of a function share one session, which lasts as long as the emulator.
    """
    seed = secrets.token_bytes(32)

    def drawn(kind: str, function: str) -> str:
        return hmac.new(seed, f"{kind} of {function}".encode(), hashlib.sha256).hexdigest()

    def issued(config: dict[str, Any]) -> Environment:
        function, role = config["FunctionArn"], config["Role"].rsplit("/", 1)[-1]
        account, _region = runtime._account_region_from_function_config(config)
        access_key_id = f"ASIA{drawn('access key id', function)[:16].upper()}"
        secret, token = drawn("secret", function), drawn("session token", function)
        name = config["FunctionName"][:64]
        session = {
            "Arn": f"arn:aws:sts::{account}:assumed-role/{role}/{name}",
            "UserId": f"{role}:{name}",
            "SecretAccessKey": secret,
            "SessionToken": token,
        }
        sts.register_session(access_key_id, session)
        return {"AWS_ACCESS_KEY_ID": access_key_id, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}

    runtime.execution_credentials = lambda_service.execution_credentials = issued
