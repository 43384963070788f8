"""Progress and results of work, on pages, over HTTP and in the row of its job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Final, NotRequired, TypedDict, cast, get_args, get_type_hints

#: Annotates a key that pages read and no call gives.
PAGE_ONLY: Final = object()
URL = Annotated[str, "Null in a preview.", {"allow_null": True}]

# The share that is done, and what is being done.
Progress = Callable[[float, str], None]


class Result(TypedDict):
    """`detail` is a sentence for people, `url` the page to go on to; each kind of work adds its own keys.

    undo: where posting `action=delete` takes the work back.
    """

    detail: str
    url: URL
    undo: NotRequired[Annotated[str, PAGE_ONLY]]


# What an import did, where it counts that; without any of them it changed nothing.
CHANGES = ("created", "changed", "restored", "supports", "new_documents", "declared")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Result of an import of a file. Each kind adds its counts, and says them as text."""

    # Where to go on, and where posting `action=delete` takes the import back.
    page: Annotated[str, PAGE_ONLY] = field(default="", compare=False)
    undo: Annotated[str, PAGE_ONLY] = field(default="", compare=False)
    words = "Imported"

    @property
    def detail(self) -> str:
        return " ".join([self.sentence, *getattr(self, "notes", ())])

    @property
    def sentence(self) -> str:
        """The counts, and that there is nothing to undo where they are all of what was there before."""
        is_new = not hasattr(self, "unchanged") or any(getattr(self, name, 0) for name in CHANGES)
        nothing = "" if is_new else " Nothing in the file is new, so there is nothing to undo."
        return f"{self.words}: {self}.{nothing}"

    @property
    def url(self) -> URL:
        return self.page

    def result(self) -> Result:
        """As calls answer it and jobs keep it."""
        hints = get_type_hints(type(self), include_extras=True)
        counts = {name: getattr(self, name) for name in hints if PAGE_ONLY not in get_args(hints[name])}
        undo = {"undo": self.undo} if self.undo else {}
        return cast(Result, counts | {"detail": self.detail, "url": self.url} | undo)
