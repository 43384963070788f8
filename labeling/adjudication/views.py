from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
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
from labeling.adjudication.settling import (
    adjudicate,
    adjudicated,
    correct,
    item_to_settle,
    make_gold,
    own_correction,
    stop_gold,
    take_back,
    undo_correction,
)
from labeling.adjudication.waiting import (
    EVERYTHING,
    WHY,
    UnsettledPair,
    Wanted,
    after,
    annotators_of,
    unsettled_items,
    unsettled_pairs,
)
from labeling.consensus.rules import RULES_IN_WORDS
from labeling.gold.rule import ENOUGH_TO_READ, Score
from labeling.gold.scores import gold_rows
from labeling.judging.images import allow_images
from labeling.judging.offers import question_offer
from labeling.judging.submissions import Submission
from labeling.judging.views import MarkedDocument, marked_document
from labeling.models import Queue, Reason, Verdict
from labeling.qrels.explanation import Explanation, Opinion, explain
from pooling.formats.wording import counted
from pooling.interface.forms import say_left_out, say_missing
from pooling.interface.pages import page_of, parameter, person, problems_as_messages
from pooling.interface.problems import InputError
from pooling.models import Collection, Role
from pooling.people.access import ADMIN, READERS, collection_for


class AdjudicationForm(forms.Form):
    """A verdict that settles a pair; a reason alone means that it cannot be judged."""

    item = forms.IntegerField(min_value=1)
    verdict = forms.ChoiceField(choices=Verdict.choices, required=False)
    reason = forms.ChoiceField(choices=[("", ""), *Reason.choices], required=False)
    note = forms.CharField(max_length=2000, required=False)
    key = forms.CharField(max_length=64)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("reason") and not values.get("verdict"):
            values["verdict"] = Verdict.CANNOT_JUDGE.value
        if not values.get("verdict"):
            self.add_error("verdict", "Choose a verdict.")
        return values


class ChoiceForm(forms.Form):
    why = forms.ChoiceField(choices=[("", "All pairs"), *WHY.items()], required=False, label="Why they wait")
    annotator = forms.ChoiceField(required=False)
    names = forms.BooleanField(required=False, label="Show names")

    def __init__(self, data: Any, *, annotators: list[str]) -> None:
        """`annotators`: whose pairs can be asked for; without any, neither they nor names are offered."""
        super().__init__(data, label_suffix="")
        if annotators:
            choices = [("", "Everybody"), *((name, name) for name in annotators)]
            self.fields["annotator"] = forms.ChoiceField(choices=choices, required=False, label="Judged by")
        else:
            del self.fields["annotator"], self.fields["names"]


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
        with problems_as_messages(request):
            messages.success(request, _acted(request, queue))
        return redirect(f"{reverse('adjudication', args=[queue.pk])}{_query_string(request)}")
    is_admin = queue.collection.role == Role.ADMIN  # type: ignore[attr-defined]
    form = ChoiceForm(request.GET, annotators=annotators_of(queue) if is_admin else [])
    form.is_valid()
    say_left_out(request, form, {})
    values = form.cleaned_data
    wanted = Wanted(values.get("why", ""), values.get("annotator", ""))
    rows = unsettled_items(queue, wanted)
    given = parameter(request, "after")
    last = queue.items.filter(pk=given).first() if given.isdecimal() and len(given) <= 18 else None
    say_missing(request, "after", [last.pk] if last else [])
    items = list((after(rows, last) if last else rows)[:PAIRS_ON_A_PAGE])
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
    annotators = annotators_of(queue)
    say_missing(request, "trusted", annotators)
    given = [name for name in request.GET.getlist("trusted") if name in annotators]
    names = given if "chosen" in request.GET else list(trusted_annotators(rows))
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "rules": RULES,
        "rule": rule,
        "people": [Voter(name, name in names, scores.get(name, Score())) for name in annotators],
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
    return f"Settled: {Verdict(given['verdict']).in_words}."


def _applied(request: HttpRequest, queue: Queue) -> HttpResponse:
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


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def label(request: HttpRequest, slug: str) -> HttpResponse:
    """Why a pair has its label; without a pair, a form that asks for one. An admin's POST corrects the label,
    makes the pair a gold question, or takes either back."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    query, document = request.GET.get("query", ""), request.GET.get("document", "")
    rule = request.GET.get("rule", "majority")
    context: dict[str, Any] = {
        "collection": collection,
        "section": "releases",
        "rules": RULES_IN_WORDS,
        "reasons": Reason.choices,
    }
    context |= {"query": query, "document": document, "rule": rule}
    if query and document:
        try:
            explanation = explain(collection, query, document, rule)
        except InputError as error:
            context["problem"] = str(error)
        else:
            if request.method == "POST":
                return _corrected(request, collection, explanation)
            context |= _explained(explanation, person(request), is_admin=collection.role == Role.ADMIN)  # type: ignore[attr-defined]
    status = 404 if "problem" in context else 200
    return render(request, "labeling/label.html", context, status=status)


def _explained(explanation: Explanation, user: User, *, is_admin: bool) -> dict[str, Any]:
    return {
        "found": explanation,
        "item": item_to_settle(explanation) if is_admin else None,
        "own": own_correction(explanation, user) if is_admin else None,
        "key": str(uuid4()),
    }


def _corrected(request: HttpRequest, collection: Collection, explanation: Explanation) -> HttpResponse:
    with problems_as_messages(request):
        messages.success(request, _done(request, collection, explanation))
    return redirect(request.get_full_path())


def _done(request: HttpRequest, collection: Collection, explanation: Explanation) -> str:
    user, reason = person(request), request.POST.get("note", "")
    if request.POST.get("undo") == "verdict":
        undo_correction(explanation, user)
        return "Undone: your verdict no longer counts."
    if request.POST.get("undo") == "gold":
        stop_gold(explanation.gold, user=user)
        return "The pair is no longer a gold question."
    if answer := request.POST.get("gold"):
        make_gold(collection, explanation, answer, reason, user=user)
        return f"A gold question with the answer {Verdict(answer).label.lower()}."
    # The item is that of the pair, and not one that the form names.
    form = AdjudicationForm({**request.POST.dict(), "item": "1"})
    if not form.is_valid():
        raise InputError("Choose relevant, not relevant, or the reason why you can't judge it.")
    correct(explanation, user, Submission(**form.cleaned_data))
    return f"Corrected: {Verdict(form.cleaned_data['verdict']).in_words}."
