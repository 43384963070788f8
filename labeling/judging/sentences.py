"""Sentences of the judging page, translated; `static/judge/words.js` says the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labeling.judging.leases import EmptyQueue
from labeling.models import Queue

# The most words of a query that is shown in the largest letters, the next smaller and the one after.
QUERY_SIZES = (12, 18, 29)


def query_size(text: str) -> int:
    """Size of a shown query, 0 to 3: by its words, or by its letters in scripts without spaces."""
    words = max(len(text.split()), len(text) // 7)
    return sum(words > most for most in QUERY_SIZES)


def empty_sentence(empty: EmptyQueue | None) -> str:
    if empty and empty.state != Queue.State.OPEN:
        return not_open_sentence(empty.state)
    if empty is None or is_finished(empty):
        return _("Every document of this queue is judged. Thank you.")
    leases, second, conflict = empty.leased, empty.second_opinion, empty.conflict
    counts_by_wording = {
        ngettext("{count} is held by another annotator", "{count} are held by others", leases): leases,
        ngettext("{count} needs a second opinion", "{count} need a second opinion", second): second,
        ngettext("{count} is in conflict", "{count} are in conflict", conflict): conflict,
    }
    reasons = _(", ").join(
        wording.format(count=count) for wording, count in counts_by_wording.items() if count
    )
    if empty.next_free_at:
        sentence = _("Nothing for you right now: {reasons}; the next becomes free at {time}.")
        return sentence.format(reasons=reasons, time=_clock(empty.next_free_at))
    return _("Nothing for you right now: {reasons}.").format(reasons=reasons)


def not_open_sentence(state: str) -> str:
    return _("This queue is {state}; it hands out no documents.").format(state=_(state))


def still_saved_sentence(state: str) -> str:
    return _("This queue is {state}; your verdicts are still saved.").format(state=_(state))


def is_finished(empty: EmptyQueue | None) -> bool:
    if empty is None:
        return True
    return empty.state == Queue.State.OPEN and not (empty.leased or empty.second_opinion or empty.conflict)


def progress_parts(counts: Mapping[str, int | None]) -> list[tuple[str, str]]:
    """Name and words of each count of work done and left, for phones to choose; none that is missing."""

    def of(name: str) -> int:
        return counts.get(name) or 0

    wordings = {
        "done_today": ngettext("{count} today", "{count} today", of("done_today")),
        "done": ngettext("{count} in total", "{count} in total", of("done")),
        "left_in_query": ngettext(
            "{count} left in this query", "{count} left in this query", of("left_in_query")
        ),
        "left": ngettext("{count} left for you", "{count} left for you", of("left")),
    }
    parts = ((name, wording, counts.get(name)) for name, wording in wordings.items())
    return [
        (name, wording.format(count=number_format(count, force_grouping=True)))
        for name, wording, count in parts
        if count is not None
    ]


def _clock(moment: datetime) -> str:
    return date_format(timezone.localtime(moment), "H:i")
