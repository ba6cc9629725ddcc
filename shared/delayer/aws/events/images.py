"""The images in records of a stream, as items of the store."""

from typing import Any, Final

from delayer.aws.store.attributes import from_attributes
from delayer.core.schedule.malformed import Malformed
from delayer.store.items import Item
from delayer.store.mapped import NOT_READ

NO_ITEM: Final = (*NOT_READ, ArithmeticError)  # the last one: of a number that is none


def item_in(image: Any) -> Item:
    """The item that an image shows. Raises Malformed if it shows none, whatever it is."""
    try:
        return from_attributes(image)
    except NO_ITEM as error:
        raise Malformed(f"an image that cannot be read: {type(error).__name__}: {error}") from error
