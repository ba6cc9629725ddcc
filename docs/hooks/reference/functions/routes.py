"""The functions behind the API, by the routes that `openapi.yaml` gives them."""

from delayer.http.routing import OTHERWISE, ROUTES
from docs.hooks.reference.functions.index import first_paragraph
from docs.hooks.reference.text import cell, table


def routes() -> str:
    """A row for each function: what it answers, and what it does."""
    answering: dict[str, list[str]] = {}
    for path, methods in ROUTES.items():
        for method, function in methods.items():
            answering.setdefault(function, []).append(f"`{method} {path}`")
    answering[OTHERWISE] = ["what has no route"]
    return table(
        ("function", "answers", "does"),
        [(f"`{name}`", ", ".join(own), cell(first_paragraph(name))) for name, own in answering.items()],
    )
