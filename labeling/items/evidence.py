"""The span of a document that shows why it is relevant: offsets in the text that was on screen.

Asking for it costs experienced people almost no time and makes labels more reliable (McDonnell, Lease, Kutlu
and Elsayed, "Why Is That Relevant?", HCOMP 2016). It is optional, and no label depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple, TypedDict

from django.utils.translation import gettext as _

from labeling.models import JudgmentEvent, Verdict
from pooling.interface.problems import InputError
from pooling.models import Document

#: Characters of the longest span: whoever marks more has marked the document.
LONGEST_EVIDENCE = 2_000


class Evidence(NamedTuple):
    """Half-open offsets in Unicode characters: `text[start:end]`."""

    start: int
    end: int


class EvidenceFacts(TypedDict):
    """Evidence in the event of a verdict; all three are empty without one."""

    span_start: int | None
    span_end: int | None
    span_sha256: str


NO_EVIDENCE: EvidenceFacts = {"span_start": None, "span_end": None, "span_sha256": ""}


def problem_with(evidence: Sequence[int] | None, verdict: str) -> str:
    """The error of a judgment's span by itself, or ""; None, no evidence, is always right."""
    if evidence is not None and verdict != Verdict.RELEVANT:
        return "Evidence goes with the verdict “relevant” alone; leave it out."
    return problem_with_span(evidence)


def problem_with_span(evidence: Sequence[int] | None) -> str:
    if evidence is None:
        return ""
    if len(evidence) != 2 or not 0 <= evidence[0] < evidence[1]:
        return "Evidence is [start, end] in characters of the text, with 0 ≤ start < end."
    if evidence[1] - evidence[0] > LONGEST_EVIDENCE:
        sentence = _("Evidence is at most {count} characters; mark the sentence that decides.")
        return sentence.format(count=f"{LONGEST_EVIDENCE:,}")
    return ""


def problem_with_version(version: int | None, newest: int) -> str:
    """The error of the version of a document that was on screen, or ""; None says nothing of it."""
    if version is None or version <= newest:
        return ""
    return f"This document has no version {version} yet: the newest is {newest}."


def facts_of_evidence(
    document_id: int, version: int | None, evidence: tuple[int, int] | None
) -> EvidenceFacts:
    """The span as it is stored, with the SHA-256 of its text, so that a changed document is noticed.

    A verdict on an earlier version keeps its offsets without one, since that text is gone. `InputError` for
    a span that ends after the text, or without the version that it is of.
    """
    if evidence is None:
        return NO_EVIDENCE
    if version is None:
        raise InputError("Evidence needs the document's version; send it as “version”.", field="version")
    start, end = evidence
    document = Document.objects.only("text", "version").get(pk=document_id)
    if version != document.version:
        return {"span_start": start, "span_end": end, "span_sha256": ""}
    text = document.text or ""
    if end > len(text):
        problem = f"Evidence ends at {end:,}, but the document has {len(text):,} characters."
        raise InputError(problem, field="evidence")
    return {"span_start": start, "span_end": end, "span_sha256": _digest(text[start:end])}


def evidence_in(event: JudgmentEvent, text: str | None) -> Evidence | None:
    """The evidence of a verdict in `text`; None without one, and where that text has changed."""
    start, end = event.span_start, event.span_end
    if start is None or end is None or not event.span_sha256:
        return None
    is_there = _digest((text or "")[start:end]) == event.span_sha256
    return Evidence(start, end) if is_there else None


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
