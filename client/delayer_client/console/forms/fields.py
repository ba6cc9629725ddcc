"""Reads the fields that a form has sent."""

from typing import Final

from starlette.requests import Request

MOST: Final = 30


async def fields_of(request: Request) -> dict[str, str]:
    """Its texts by their names. Files are left out."""
    async with request.form(max_fields=MOST, max_files=0) as form:
        return {name: value.strip() for name, value in form.items() if isinstance(value, str)}
