from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from labeling.gold.gaps import queries_without_gold
from labeling.gold.questions import (
    LONGEST_REASON,
    NewQuestion,
    add_question,
    change_question,
    change_questions,
    gold_balance,
)
from labeling.gold.serializers import ANSWERS
from labeling.gold_pages.answers import NOBODY, records
from labeling.gold_pages.lists import ANSWERS_TO, PROPOSALS, QUESTIONS
from labeling.gold_pages.proposals import (
    accept_proposals,
    decline_proposals,
    pairs_named,
    proposals,
    set_size,
)
from labeling.gold_pages.separation import balanced_set
from labeling.items.withdrawn import THERE
from labeling.judging.images import allow_images
from labeling.judging.offers import question_offer
from labeling.judging.views import marked_document
from labeling.models import GoldQuestion, Item, Queue, Verdict
from pooling.formats.wording import counted
from pooling.interface.forms import say_missing, show_problem
from pooling.interface.pages import parameter, person, to_list
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for, fetch, require_role
from pooling.storage.pages import import_page
from pooling.tables.answers import answer


class GoldForm(forms.Form):
    query = forms.CharField(max_length=500, strip=False, label="Query id")
    document = forms.CharField(max_length=500, strip=False, label="Document id")
    answer = forms.ChoiceField(
        choices=[(value, label.capitalize()) for value, label in ANSWERS], widget=forms.RadioSelect
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown in the practice round, and to admins.",
    )
    practice = forms.BooleanField(
        required=False,
        label="For the practice round",
        help_text="Explained after the answer; never mixed into the pairs.",
    )


class GoldFileForm(forms.Form):
    """A file of gold questions."""

    file = forms.FileField(
        label="File of gold questions",
        help_text="CSV, TSV or JSON lines: query_id, document_id, answer; optionally reason, practice.",
    )


class GoldChangeForm(forms.Form):
    change = forms.ChoiceField(
        choices=[(name, name) for name in ("active", "inactive", "practice", "hidden")]
    )


class BulkForm(forms.Form):
    """Changes of the chosen questions; a field left as it is changes nothing."""

    use = forms.ChoiceField(
        choices=[
            ("", "Leave as it is"),
            ("hidden", "Hidden in judging"),
            ("practice", "For practice"),
            ("out", "Out of use"),
        ],
        required=False,
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        label="Reason, for all of them",
        help_text="Empty leaves each its own.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class DecideForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        help_text="For all of them; empty keeps those below. The practice round shows it to annotators.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    practice = forms.BooleanField(required=False, label="For the practice round")


class MadeForm(forms.Form):
    """A pair made a gold question where it is shown; `next` is the page to go back to."""

    query = forms.CharField(max_length=500, strip=False)
    document = forms.CharField(max_length=500, strip=False)
    answer = forms.ChoiceField(choices=ANSWERS)
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)
    next = forms.CharField(max_length=2000, required=False)


PROPOSALS_ON_PAGE = 8
MOST_CHOSEN = 200
USES = {
    "hidden": {"active": True, "practice": False},
    "practice": {"active": True, "practice": True},
    "out": {"active": False},
}


@login_required
@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    initial = {name: request.GET.get(name, "") for name in ("query", "document")}
    form = GoldForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            add_question(collection, NewQuestion(**form.cleaned_data), user=person(request))
        except InputError as error:
            show_problem(form, error)
        else:
            messages.success(request, "The pair is now a gold question.")
            return redirect("gold", slug)
    candidates = proposals(collection)
    context = {
        "collection": collection,
        "section": "gold",
        "form": form,
        "balance": gold_balance(collection),
        "doubtful": _doubtful(collection),
        "without": queries_without_gold(collection),
        "table": QUESTIONS.shown(request, _questions(collection), collection),
        "proposed": candidates[:PROPOSALS_ON_PAGE],
        "proposal_count": len(candidates),
    }
    return answer(request, "labeling/gold.html", context)


@login_required
@require_http_methods(["GET"])
def gold_proposals(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All proposals, best first; `?set=20` shows 20 that are balanced by answer and query."""
    collection = collection_for(request.user, slug, ADMIN)
    candidates = proposals(collection)
    context: dict[str, object] = {"collection": collection, "section": "gold", "most": MOST_CHOSEN}
    if size := parameter(request, "set"):
        try:
            candidates = balanced_set(candidates, set_size(size, MOST_CHOSEN))
            context["balanced"] = candidates
        except InputError as error:
            context["problem"] = str(error)
    context["table"] = PROPOSALS.shown(request, candidates, collection)
    return answer(request, "labeling/gold_proposals.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def gold_decide(request: HttpRequest, slug: str) -> HttpResponse:
    """The chosen proposals with their answers; POST makes them gold questions, or declines them for good."""
    collection = collection_for(request.user, slug, ADMIN)
    pairs = pairs_named((request.POST or request.GET).getlist("pair")[:MOST_CHOSEN])
    form = DecideForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("decision") == "decline":
            done = decline_proposals(collection, pairs, user=person(request))
            messages.success(request, f"Declined: {counted(done, 'proposal')}.")
        else:
            done = accept_proposals(collection, pairs, user=person(request), **form.cleaned_data)
            messages.success(request, f"New gold questions: {done:,}.")
        return redirect("gold", slug)
    chosen = proposals(collection, only=pairs)
    say_missing(request, "pair", [one.pk for one in chosen])
    context = {"collection": collection, "section": "gold", "form": form, "chosen": chosen}
    return render(request, "labeling/gold_decide.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def gold_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """The chosen gold questions; POST changes all of them."""
    collection = collection_for(request.user, slug, ADMIN)
    keys = [
        int(key) for key in (request.POST or request.GET).getlist("gold") if key.isdecimal() and len(key) < 19
    ]
    chosen = list(_questions(collection).filter(pk__in=keys[:MOST_CHOSEN]))
    say_missing(request, "gold", [one.pk for one in chosen])
    form = BulkForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        changes: dict[str, object] = {**USES.get(form.cleaned_data["use"], {})}
        if reason := form.cleaned_data["reason"].strip():
            changes["reason"] = reason
        if changes:
            change_questions(collection, chosen, by=person(request), **changes)
            use = f", now {chosen[0].use_in_words}" if chosen and form.cleaned_data["use"] else ""
            messages.success(request, f"Changed: {counted(len(chosen), 'gold question')}{use}.")
            return redirect("gold", slug)
        form.add_error(None, "Choose what to change.")
    context = {"collection": collection, "section": "gold", "form": form, "chosen": chosen}
    return render(request, "labeling/gold_edit.html", context)


@login_required
@require_POST
def gold_make(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a pair a gold question from wherever it is shown, and go back there."""
    collection = collection_for(request.user, slug, ADMIN)
    form = MadeForm(request.POST)
    if form.is_valid():
        given = dict(form.cleaned_data)
        del given["next"]
        try:
            add_question(collection, NewQuestion(**given), user=person(request))
        except InputError as error:
            messages.error(request, str(error))
        else:
            label = Verdict(given["answer"]).label.lower()
            messages.success(request, f"A gold question with the answer {label}.")
    else:
        messages.error(request, "Choose the answer of the gold question.")
    return to_list(request, "gold", slug)


gold_import = import_page("gold", GoldFileForm, "labeling/gold_import.html", section="gold")


@login_required
@require_POST
def gold_suggestions(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    pairs = pairs_named(request.POST.getlist("pair")[:MOST_CHOSEN])
    if request.POST.get("decision") == "accept":
        made = accept_proposals(collection, pairs, user=person(request))
        messages.success(request, f"New gold questions: {made:,}.")
    else:
        declined = decline_proposals(collection, pairs, user=person(request))
        messages.success(request, f"Declined: {declined:,}.")
    return redirect("gold", slug)


@login_required
@require_http_methods(["GET", "POST"])
def gold_change(request: HttpRequest, question_id: int) -> HttpResponseBase:
    """A gold question as annotators see it and answered it; POST changes whether and where it is used."""
    question = fetch(GoldQuestion.objects.select_related("collection", "query", "document"), pk=question_id)
    require_role(request.user, question.collection, ADMIN)
    if request.method == "POST":
        form = GoldChangeForm(request.POST)
        if form.is_valid():
            change = form.cleaned_data["change"]
            name, yes = ("active", "active") if change in ("active", "inactive") else ("practice", "practice")
            change_question(question, by=person(request), **{name: change == yes})
            messages.success(request, f"{question.pair_in_words} is now {question.use_in_words}.")
        return to_list(request, "gold", question.collection.slug)
    record = records(question.collection).get(question.pk, NOBODY)
    # What an annotator is offered is made of the pair, and of what its queue highlights.
    queue = question.collection.queues.filter(kind=Queue.Kind.PAIRS).order_by("pk").last() or Queue()
    queue.collection = question.collection
    offer = question_offer(Item(pk=0, queue=queue, query=question.query, document=question.document))
    context = {
        "collection": question.collection,
        "section": "gold",
        "question": question,
        "record": record,
        "item": offer,
        **marked_document(offer["document"]),
        "table": ANSWERS_TO.shown(request, list(record.given), question.collection),
    }
    return allow_images(answer(request, "labeling/gold_question.html", context), question.collection)


def _questions(collection: Collection) -> QuerySet[GoldQuestion]:
    rows = collection.gold_questions.filter(**THERE).select_related("collection", "query", "document")
    return rows.defer("document__text")


def _doubtful(collection: Collection) -> list[GoldQuestion]:
    """Questions whose answer looks wrong, each with its `record`."""
    doubted = {key: record for key, record in records(collection).items() if record.is_doubtful}
    questions = list(_questions(collection).filter(pk__in=doubted))
    for question in questions:
        question.record = doubted[question.pk]  # type: ignore[attr-defined]
    return questions
