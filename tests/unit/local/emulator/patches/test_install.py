"""The corrections refuse another version of ministack."""

import pytest

from local.emulator.patches.install import check_version
from local.errors import EmulatorError


def test_another_version_is_refused_in_one_sentence() -> None:
    check_version("1.5.33")
    with pytest.raises(EmulatorError, match=r"ministack 1\.5\.34 is installed"):
        check_version("1.5.34")
