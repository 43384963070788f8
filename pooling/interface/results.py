"""What work says: how far it is, and in the end, on pages, over HTTP and in the row of its job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, NotRequired, TypedDict

#: Annotates a key that pages read and no call gives.
PAGE_ONLY: Final = object()

# The share that is done, and what is being done.
Progress = Callable[[float, str], None]


class Result(TypedDict):
    """`detail` is a sentence for people, `url` the page to go on to; each kind of work adds its own keys.

    undo: where posting `action=delete` takes the work back.
    """

    detail: str
    url: str
    undo: NotRequired[Annotated[str, PAGE_ONLY]]
