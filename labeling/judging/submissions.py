"""A verdict as it comes in: what it says, what is wrong with it by itself, and what is stored of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from labeling.items import evidence
from labeling.models import Highlight, JudgmentEvent, Reason, Verdict
from pooling.tidying.erasing import forgets_old

LONGEST_KEY = 64
LONGEST_NOTE = 5000
TEXT_PARTS = ("", "passage", "document")


@dataclass(frozen=True)
class Submission:
    """A verdict as it was given: on an item, in a version of its document, under the client's own key.

    One that `adjudicates` settles the pair if it waits for that, and in any case if it `overrules`; who may
    give such is asked where it comes in. One that `practises` answers a question of the practice round, and
    counts in no number. `evidence` is a span of that version's text, see `labeling/items/evidence.py`.
    """

    item: int
    key: str
    verdict: str
    reason: str = ""
    note: str = ""
    active_ms: int | None = None
    shown: str = ""
    version: int | None = None
    lease: UUID | None = None
    adjudicates: bool = False
    overrules: bool = False
    evidence: tuple[int, int] | None = None
    highlight: str = ""
    practises: bool = False


def problem_with(verdict: Submission) -> str:
    """The error of a submission by itself, or ""."""
    if not verdict.key or len(verdict.key) > LONGEST_KEY or not verdict.key.isascii() or "\0" in verdict.key:
        return f"A key is 1 to {LONGEST_KEY} ASCII characters."
    if verdict.verdict not in Verdict.values:
        return f"Unknown verdict “{verdict.verdict}”. Use {', '.join(Verdict.values)}."
    if verdict.verdict == Verdict.CANNOT_JUDGE and verdict.reason not in Reason.values:
        return f"“Can't judge” needs a reason: {', '.join(Reason.values)}."
    if len(verdict.note) > LONGEST_NOTE:
        return _("A note may have at most {count} characters.").format(count=f"{LONGEST_NOTE:,}")
    if verdict.shown not in TEXT_PARTS:
        return "“shown” must be “passage” or “document”."
    if verdict.highlight not in ("", *Highlight.values):
        return f"Unknown highlight “{verdict.highlight}”. Use {', '.join(Highlight.values)}."
    return evidence.problem_with(verdict.evidence, verdict.verdict)


class VerdictFacts(TypedDict):
    verdict: str
    reason: str
    note: str
    shown: str
    highlight: str
    document_version: int | None
    active_ms: int | None
    lease: UUID | None
    is_adjudication: bool
    is_practice: bool


def facts_of(verdict: Submission) -> VerdictFacts:
    return {
        "verdict": verdict.verdict,
        "reason": verdict.reason if verdict.verdict == Verdict.CANNOT_JUDGE else "",
        "note": verdict.note.replace("\0", "").encode(errors="replace").decode(),
        "shown": verdict.shown,
        "highlight": verdict.highlight,
        "document_version": verdict.version,
        "active_ms": verdict.active_ms,
        "lease": verdict.lease,
        "is_adjudication": verdict.adjudicates,
        "is_practice": verdict.practises,
    }


@forgets_old
def forget_notes(now: datetime) -> None:
    """Empty notes older than NOTE_DAYS; the verdicts stay. Nothing where they are kept for good (0)."""
    if settings.NOTE_DAYS:
        before = now - timedelta(days=settings.NOTE_DAYS)
        JudgmentEvent.objects.filter(created_at__lt=before).exclude(note="").update(note="")
