"""The pages of adjudication: one pair at a time, and many by a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
from labeling.adjudication.forms import AdjudicationForm, ChoiceForm
from labeling.adjudication.rules import (
    AT_ONCE,
    RULES,
    apply_rule,
    batches,
    preview,
    singly,
    trusted_annotators,
    undo_rule,
)
from labeling.adjudication.settling import adjudicate, adjudicated, take_back
from labeling.adjudication.waiting import (
    EVERYTHING,
    UnsettledPair,
    Wanted,
    after,
    annotators_of,
    unsettled_items,
    unsettled_pairs,
)
from labeling.gold.rule import ENOUGH_TO_READ, Score
from labeling.gold.scores import gold_rows
from labeling.judging.images import allow_images
from labeling.judging.offers import question_offer
from labeling.judging.submissions import Submission
from labeling.judging.views import MarkedDocument, marked_document
from labeling.models import Queue, Reason, Verdict
from labeling.qrels.explanation import Opinion
from pooling.formats.wording import counted
from pooling.interface.pages import page_of, parameter, person
from pooling.interface.problems import InputError
from pooling.models import Role
from pooling.people.access import ADMIN, READERS

# The script shows one after the other, and fetches more before they run out.
PAIRS_ON_A_PAGE = 5
SETTLED_ON_PAGE = 20


@dataclass(frozen=True)
class PairOnPage:
    """A waiting pair as the page shows it; sent twice under its key, a verdict settles once."""

    pair: UnsettledPair
    key: str
    document: MarkedDocument
    opinions: list[Opinion]


class Voter(NamedTuple):
    name: str
    is_trusted: bool
    score: Score


@login_required
@require_http_methods(["GET", "POST"])
def adjudication(request: HttpRequest, queue_id: int) -> HttpResponse:
    """The next pair that waits to be settled, and what was said of it; POST settles it or takes back."""
    queue = queue_for(request.user, queue_id, ADMIN if request.method == "POST" else READERS)
    if request.method == "POST":
        try:
            messages.success(request, _acted(request, queue))
        except InputError as error:
            messages.error(request, str(error))
        return redirect(f"{reverse('adjudication', args=[queue.pk])}{_query_string(request)}")
    is_admin = queue.collection.role == Role.ADMIN  # type: ignore[attr-defined]
    form = ChoiceForm(request.GET, annotators=annotators_of(queue) if is_admin else [])
    form.is_valid()
    values = form.cleaned_data
    wanted = Wanted(values.get("why", ""), values.get("annotator", ""))
    rows = unsettled_items(queue, wanted)
    last = parameter(request, "after")
    coming = after(rows, int(last)) if last.isdecimal() and len(last) <= 18 else rows
    items = list(coming[:PAIRS_ON_A_PAGE])
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "form": form,
        "is_narrowed": wanted != EVERYTHING,
        "names": values.get("names", False),
        "shown": [_pair_on_page(pair) for pair in unsettled_pairs(items)],
        "waiting": rows.count(),
        "rest": _query_string(request),
        "settled": singly(adjudicated(queue))[:SETTLED_ON_PAGE],
        "batches": batches(queue),
        "reasons": Reason.choices,
    }
    return allow_images(render(request, "labeling/adjudication.html", context), queue.collection)


@login_required
@require_http_methods(["GET", "POST"])
def by_rule(request: HttpRequest, queue_id: int) -> HttpResponse:
    """A rule's decisions on the pairs that wait; POST settles them so, or undoes it."""
    queue = queue_for(request.user, queue_id, ADMIN)
    if request.method == "POST":
        return _applied(request, queue)
    rows = gold_rows(queue)
    scores = {row.username: row.score for row in rows}
    rule = parameter(request, "rule")
    names = request.GET.getlist("trusted") if "chosen" in request.GET else list(trusted_annotators(rows))
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "rules": RULES,
        "rule": rule,
        "people": [Voter(name, name in names, scores.get(name, Score())) for name in annotators_of(queue)],
        "enough": ENOUGH_TO_READ,
        "at_once": AT_ONCE,
    }
    if rule:
        try:
            effect = preview(queue, rule, names)
        except InputError as error:
            context["problem"] = str(error)
        else:
            context |= {
                "preview": effect,
                "rule_in_words": RULES[rule],
                "page": page_of(request, effect.decisions),
            }
    return render(request, "labeling/adjudication_rules.html", context)


def _pair_on_page(pair: UnsettledPair) -> PairOnPage:
    # As annotators saw it.
    document = marked_document(question_offer(pair.item)["document"], whole=True)
    return PairOnPage(pair, str(uuid4()), document, pair.opinions)


def _query_string(request: HttpRequest) -> str:
    kept = [(name, value) for name in ("why", "annotator", "names") if (value := parameter(request, name))]
    return f"?{urlencode(kept)}" if kept else ""


def _acted(request: HttpRequest, queue: Queue) -> str:
    if request.POST.get("undo"):
        take_back(queue, person(request), request.POST["undo"])
        return "Undone: the pair needs adjudication again."
    form = AdjudicationForm(request.POST)
    if not form.is_valid():
        raise InputError("Choose relevant, not relevant, or the reason why you can't judge it.")
    given = form.cleaned_data
    adjudicate(queue, person(request), Submission(**given))
    return f"Settled: {Verdict(given['verdict']).label}."


def _applied(request: HttpRequest, queue: Queue) -> HttpResponse:
    """Settle by the rule that was previewed, or take back what was settled by one."""
    try:
        if batch := request.POST.get("undo"):
            count = undo_rule(queue, person(request), batch)
            message = f"Undone: {counted(count, 'pair')} need adjudication again."
        else:
            chosen = preview(queue, request.POST.get("rule", ""), request.POST.getlist("trusted"))
            done = apply_rule(queue, person(request), chosen, digest=request.POST.get("digest", ""))
            message = f"Settled by rule: {counted(done.settled, 'pair')}. Undo it under “Recently settled”."
    except InputError as error:
        messages.error(request, str(error))
        return redirect("adjudication_rules", queue.pk)
    messages.success(request, message)
    return redirect("adjudication", queue.pk)
