"""The console: what is due, what fired and what waits, in a browser. Needs the extra `console`.

    from delayer_client.console import serve
    serve(url="https://abc.execute-api.eu-west-1.amazonaws.com", port=8765, open_browser=True)

`application(Place(…))` is the ASGI application, for `delayer serve`, which serves it beside the API.
"""

from delayer_client.console.application import application
from delayer_client.console.place import Place, place_of
from delayer_client.console.serving import serve

__all__ = ["Place", "application", "place_of", "serve"]
