"""What finished work says, on pages, over HTTP and in the row of its job: one JSON object."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Result(TypedDict):
    """`detail` is a sentence for people, `url` the page to go on to; each kind of work adds its own keys.

    undo: where posting `action=delete` takes the work back.
    """

    detail: str
    url: str
    undo: NotRequired[str]
