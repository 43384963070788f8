"""Pages around gold questions: an admin keeps them and looks after people, an annotator practises."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from labeling.access import queue_for
from labeling.gold.forms import GoldOptionsForm
from labeling.gold.lists import ANSWERS_GIVEN, QUESTIONS
from labeling.gold.options import change_options
from labeling.gold.quarantine import annotator_named, impose, lift
from labeling.gold.questions import (
    LONGEST_REASON,
    NewQuestion,
    accept_suggestions,
    add_question,
    change_question,
    decline_suggestions,
    gold_balance,
    suggestions,
)
from labeling.gold.rule import ENOUGH_TO_READ
from labeling.gold.scores import gold_answers, gold_rows
from labeling.gold.serializers import ANSWERS, gold_figures
from labeling.items.withdrawn import THERE
from labeling.models import GoldQuestion
from pooling.interface.forms import show_problem
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for, fetch, require_role
from pooling.storage.pages import upload
from pooling.tables.answers import answer

SUGGESTED = 20


class GoldForm(forms.Form):
    """A pair by its ids, and its answer."""

    query = forms.CharField(max_length=500, strip=False, label="Query id")
    document = forms.CharField(max_length=500, strip=False, label="Document id")
    answer = forms.ChoiceField(choices=ANSWERS, widget=forms.RadioSelect)
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown in the practice round, and to admins.",
    )
    practice = forms.BooleanField(
        required=False,
        label="For the practice round",
        help_text="Explained after the answer; never mixed into the items.",
    )


class GoldFileForm(forms.Form):
    """A file of gold questions."""

    file = forms.FileField(
        label="File of gold questions",
        help_text="CSV, TSV or JSON lines: query_id, document_id, answer; optionally reason, practice.",
    )


class GoldChangeForm(forms.Form):
    """Use, or no use, of a gold question."""

    change = forms.ChoiceField(
        choices=[(name, name) for name in ("active", "inactive", "practice", "hidden")]
    )


@login_required
@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The gold questions of a collection, what is suggested, and a form for one more."""
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
    rows = (
        collection.gold_questions.filter(**THERE).select_related("query", "document").defer("document__text")
    )
    context = {
        "collection": collection,
        "section": "gold",
        "form": form,
        "balance": gold_balance(collection),
        "table": QUESTIONS.shown(request, rows, collection),
        "suggestions": suggestions(collection)[:SUGGESTED],
    }
    return answer(request, "labeling/gold.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def gold_import(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a file of gold questions."""
    collection = collection_for(request.user, slug, ADMIN)
    form = GoldFileForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and (response := upload(request, collection, "gold", form, section="gold")):
        return response
    context = {"form": form, "collection": collection, "section": "gold"}
    return render(request, "labeling/gold_import.html", context)


@login_required
@require_POST
def gold_suggestions(request: HttpRequest, slug: str) -> HttpResponse:
    """Accept or decline the chosen suggestions."""
    collection = collection_for(request.user, slug, ADMIN)
    pairs = [_pair(word) for word in request.POST.getlist("pair")[:SUGGESTED]]
    chosen = [pair for pair in pairs if pair]
    if request.POST.get("decision") == "accept":
        messages.success(
            request, f"New gold questions: {accept_suggestions(collection, chosen, user=person(request))}."
        )
    else:
        messages.success(
            request, f"Declined: {decline_suggestions(collection, chosen, user=person(request))}."
        )
    return redirect("gold", slug)


@login_required
@require_POST
def gold_change(request: HttpRequest, question_id: int) -> HttpResponse:
    """Take a question out of use or into it, for practice or for the stream."""
    question = fetch(GoldQuestion.objects.select_related("collection"), pk=question_id)
    require_role(request.user, question.collection, ADMIN)
    form = GoldChangeForm(request.POST)
    if form.is_valid():
        change = form.cleaned_data["change"]
        name, yes = ("active", "active") if change in ("active", "inactive") else ("practice", "practice")
        change_question(question, **{name: change == yes})
        messages.success(request, "Changed.")
    return redirect("gold", question.collection.slug)


@login_required
@require_http_methods(["GET", "POST"])
def queue_gold(request: HttpRequest, queue_id: int) -> HttpResponse:
    """How people answer the gold questions of a queue, who was paused, and the queue's options."""
    queue = queue_for(request.user, queue_id, ADMIN)
    names = list(GoldOptionsForm.base_fields)
    form = GoldOptionsForm(request.POST or None, initial={name: getattr(queue, name) for name in names})
    if request.method == "POST" and form.is_valid():
        try:
            change_options(queue, form.cleaned_data)
            messages.success(request, "Changed.")
            return redirect("queue_gold", queue_id)
        except InputError as error:
            show_problem(form, error)
    quarantines = list(queue.quarantines.select_related("annotator", "imposed_by", "lifted_by"))
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "form": form,
        "rows": [{**gold_figures(row), "row": row} for row in gold_rows(queue)],
        "quarantines": quarantines,
        "paused": {row.annotator.get_username() for row in quarantines if row.lifted_at is None},
        "enough": ENOUGH_TO_READ,
    }
    return render(request, "labeling/gold_queue.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def annotator_gold(request: HttpRequest, queue_id: int, name: str) -> HttpResponseBase:
    """The evidence on one annotator; pause them, or restore them."""
    queue = queue_for(request.user, queue_id, ADMIN)
    try:
        annotator = annotator_named(queue, name)
    except InputError as error:
        messages.error(request, str(error))
        return redirect("queue_gold", queue_id)
    if request.method == "POST":
        try:
            if request.POST.get("action") == "restore":
                lift(queue, annotator, by=person(request))
                messages.success(request, f"{name} can go on; their judgments count again.")
            else:
                reason = request.POST.get("reason", "").replace("\0", "")[:LONGEST_REASON]
                impose(queue, annotator, by=person(request), reason=reason)
                messages.success(request, f"{name} is paused; their judgments are set aside.")
        except InputError as error:
            messages.error(request, str(error))
        return redirect("annotator_gold", queue_id, name)
    quarantines = queue.quarantines.filter(annotator=annotator).select_related("imposed_by", "lifted_by")
    rows = [row for row in gold_rows(queue) if row.annotator_id == annotator.pk]
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "annotator": annotator,
        "row": gold_figures(rows[0]) if rows else None,
        "table": ANSWERS_GIVEN.shown(request, gold_answers(queue, annotator), queue.collection),
        "quarantines": list(quarantines),
        "is_paused": any(row.lifted_at is None for row in quarantines),
    }
    return answer(request, "labeling/gold_annotator.html", context)


def _pair(word: str) -> tuple[int, int] | None:
    query, _, document = word.partition(":")
    return (int(query), int(document)) if query.isdecimal() and document.isdecimal() else None
