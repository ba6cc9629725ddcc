"""The calls of Secrets Manager. There are no stubs here of it."""

from collections.abc import Mapping
from typing import Any, Protocol


class SecretsManagerClient(Protocol):
    """The calls that are made. There are no stubs here."""

    def create_secret(self, *, Name: str, SecretString: str, Tags: list[dict[str, str]]) -> Any:  # noqa: N803
        """Fails if there is one of this name."""
        ...

    def get_secret_value(self, *, SecretId: str) -> Mapping[str, Any]:  # noqa: N803
        """The current version."""
        ...

    def delete_secret(self, *, SecretId: str, ForceDeleteWithoutRecovery: bool) -> Any:  # noqa: N803
        """Fails if there is none."""
        ...
