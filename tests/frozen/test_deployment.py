"""What is deployed is what was deployed before: the template, the permissions, what is imported (ADR 0142)."""

import pytest

from tests.frozen import cold_starts, permissions, template
from tests.frozen.files import WRITE_ANEW, difference, read


def test_the_template_is_the_one_on_file() -> None:
    """With its loops written out: a change of a loop shows in each of the resources that it makes.

    It takes two seconds if no other test has expanded the template yet.
    """
    on_file, now = read(template.TEMPLATE), template.text()
    assert on_file == now, f"the template has changed; if that is meant: {WRITE_ANEW}\n{difference(on_file, now)}"


def test_the_permissions_are_those_on_file() -> None:
    """Which are needed says `test_a_function_may_do_what_its_code_does_and_nothing_else`; this shows what changed."""
    on_file, now = read(permissions.PERMISSIONS), permissions.text()
    assert on_file == now, f"permissions have changed; if that is meant: {WRITE_ANEW}\n{difference(on_file, now)}"


@pytest.mark.thorough
def test_a_function_imports_what_is_on_file() -> None:
    """Each module costs time at each cold start. It takes a minute, because each function starts in its own process.

    Names alone are compared, so the order in which a file was written says nothing. A function that somebody adds is
    not on file, and need not be.
    """
    on_file, now = (cold_starts.whole(one) for one in (cold_starts.on_file(), cold_starts.now()))
    more = {function: sorted(names - on_file.get(function, set())) for function, names in now.items()}
    less = {function: sorted(names - now.get(function, set())) for function, names in on_file.items()}
    found = {
        function: {"imports now": more.get(function, []), "imports no more": less.get(function, [])}
        for function in sorted(on_file)
        if more.get(function) or less[function] or function not in now
    }
    assert not found, f"cold starts have changed; if that is meant: {WRITE_ANEW}\n{found}"
