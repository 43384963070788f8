"""The page that explains a label, where an admin corrects it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.adjudication.corrections import (
    correct,
    item_to_settle,
    make_gold,
    own_correction,
    stop_gold,
    undo_correction,
)
from labeling.adjudication.forms import AdjudicationForm
from labeling.consensus.rule_names import RULES_IN_WORDS
from labeling.judging.submissions import Submission
from labeling.models import Reason, Verdict
from labeling.qrels.explanation import Explanation, explain
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Collection, Role
from pooling.people.access import ADMIN, READERS, collection_for


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
    try:
        messages.success(request, _done(request, collection, explanation))
    except InputError as error:
        messages.error(request, str(error))
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
    return f"Corrected: {Verdict(form.cleaned_data['verdict']).label}."
