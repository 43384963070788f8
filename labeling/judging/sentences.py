"""What the judging page says of progress and of an empty queue: each wording once, for server and script.

The script gets `WORDS` with the page and fills the same places as the functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.formats import date_format

from labeling.models import Queue

if TYPE_CHECKING:
    from labeling.judging.leases import EmptyQueue

PROGRESS: dict[str, str] = {
    "done_today": "{count} today",
    "done": "{count} in total",
    "left_in_query": "{count} left in this query",
    "left": "{count} left for you",
}
# For one and for several.
REASONS: dict[str, tuple[str, str]] = {
    "leased": ("{count} is held by another annotator", "{count} are held by others"),
    "second_opinion": ("{count} needs a second opinion", "{count} need a second opinion"),
    "conflict": ("{count} is in conflict", "{count} are in conflict"),
}
EMPTY: dict[str, str] = {
    "not_open": "This queue is {state} and hands out no documents.",
    "waiting": "Nothing for you right now: {reasons}{next}.",
    "next": "; the next becomes free at {time}",
    "finished": "Every document of this queue is judged. Thank you.",
}
# The most words of a query that is shown in the largest letters, the next smaller and the one after.
QUERY_SIZES = (12, 18, 29)
WORDS: dict[str, Any] = {
    "progress": PROGRESS,
    "reasons": REASONS,
    "empty": EMPTY,
    "query_sizes": QUERY_SIZES,
}


def query_size(text: str) -> int:
    """How small a query is shown, 0 to 3: by its words, or by its letters in scripts without spaces."""
    words = max(len(text.split()), len(text) // 7)
    return sum(words > most for most in QUERY_SIZES)


def empty_sentence(empty: EmptyQueue | None) -> str:
    """Why there is nothing to judge, in one sentence."""
    if empty and empty.state != Queue.State.OPEN:
        return EMPTY["not_open"].format(state=empty.state)
    counts = {name: getattr(empty, name, 0) for name in REASONS}
    reasons = [REASONS[name][count > 1].format(count=count) for name, count in counts.items() if count]
    if not empty or not reasons:
        return EMPTY["finished"]
    frees = EMPTY["next"].format(time=_clock(empty.next_free_at)) if empty.next_free_at else ""
    return EMPTY["waiting"].format(reasons=", ".join(reasons), next=frees)


def is_finished(empty: EmptyQueue | None) -> bool:
    """Whether nothing is left of an open queue that anybody could judge."""
    return empty_sentence(empty) == EMPTY["finished"]


def progress_sentence(counts: Mapping[str, object]) -> str:
    """What the annotator did and what is left; a count that is missing or None is left out."""
    known = ((wording, counts.get(name)) for name, wording in PROGRESS.items())
    return " · ".join(wording.format(count=count) for wording, count in known if count is not None)


def _clock(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "H:i")
