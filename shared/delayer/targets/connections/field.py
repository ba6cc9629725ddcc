"""The field of an action that names a connection."""

from typing import Annotated, Final

from delayer.extension.action import Meta

NAME: Final = r"^(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}$"
ConnectionName = Annotated[
    str,
    Meta(
        pattern=NAME,
        description="The name of a connection of the same owner: see PUT /connections/{name}. It sets a header with a "
        "secret that is stored apart. The same header cannot be given by hand.",
        extra_json_schema={"x-allowed": "1 to 128 letters, digits and . _ : @ -"},
    ),
]
