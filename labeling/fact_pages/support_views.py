from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from labeling.access import queue_for
from labeling.fact_pages.claims import claim_item, lease_of, leased_item, left_for, skip_item
from labeling.fact_pages.opening import FactQueueOptions, open_fact_queue, options_from
from labeling.fact_pages.progress import fact_progress, own_progress
from labeling.fact_pages.showing import FACTS_ON_A_PAGE, page_for
from labeling.fact_pages.storing import (
    FactPage,
    FactVerdict,
    pages_given,
    store_page,
    undo_page,
    was_handed_out,
)
from labeling.facts.items import facts_of_item
from labeling.items.numbers import LARGEST_NUMBER, item_of, number_of
from labeling.judging.images import allow_images
from labeling.judging.leases import DELETED, state_of
from labeling.judging.sentences import not_open_sentence, still_saved_sentence
from labeling.judging.views import guidelines_of, looks_of, marked_document
from labeling.models import Fact, FactItem, Queue, SupportVerdict
from pooling.interface.forms import fill_from_address, show_problem
from pooling.interface.option_fields import form_fields
from pooling.interface.pages import person, speak
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool, Role
from pooling.people.access import ADMIN, JUDGES, MEMBERS, NOTHING_HERE, collection_for, fetch


@form_fields(FactQueueOptions)
class FactQueueForm(forms.Form):
    pool = forms.ModelChoiceField(Pool.objects.none(), label="Pool")
    name = forms.CharField(
        max_length=200, required=False, label="Name", help_text="Left empty, it is named after the pool."
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = collection.pools.listed()  # type: ignore[attr-defined]


def page_from(values: Mapping[str, str]) -> tuple[int, FactPage]:
    """The item and the page that a form brought: for each fact `fact-N` its id, with `version-N`, `verdict-N`
    and perhaps `evidence-N` as "start-end".

    A fact without a verdict is left out, unless `none` says that the document supports none of the rest.
    """
    rest = "no" if "none" in values else ""
    try:
        verdicts = [
            FactVerdict(
                values[f"fact-{number}"],
                int(values[f"version-{number}"]),
                values.get(f"verdict-{number}") or rest,
                _span(values.get(f"evidence-{number}", "")),
            )
            for number in range(1, 100)
            if f"fact-{number}" in values and (values.get(f"verdict-{number}") or rest)
        ]
        page = FactPage(
            UUID(values["key"]),
            int(values["document_version"]),
            verdicts,
            int(values["active_ms"]) if values.get("active_ms") else None,
        )
        number = int(values["item"])
    except (KeyError, ValueError) as error:
        raise InputError(_("The page was incomplete. Look at it again.")) from error
    if not (0 <= number <= LARGEST_NUMBER and 0 < page.document_version < 2**31 and verdicts):
        raise InputError(_("The page was incomplete. Look at it again."))
    return item_of(number), page


def _span(written: str) -> tuple[int, int] | None:
    if not written:
        return None
    start, _dash, end = written.partition("-")
    return int(start), int(end)


def fact_queue_for(user: User, queue_id: int, roles: tuple[Role, ...], *, deleted_too: bool = False) -> Queue:
    """Fetch a queue of facts for somebody with one of `roles`."""
    queue = queue_for(user, queue_id, roles, deleted_too=deleted_too)
    if queue.kind != Queue.Kind.FACTS:
        raise Http404(NOTHING_HERE)
    return queue


@login_required
@require_http_methods(["GET", "POST"])
def judge_facts(request: HttpRequest, queue_id: int) -> HttpResponse:
    """A document with a page (`?item=`, `?page=`) of facts: judge, take back or skip; a part for htmx."""
    speak(request)
    queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
    if request.method == "GET":
        return _page(request, queue, _named(request, queue), _number(request.GET.get("page", "")))
    try:
        if request.POST.get("action") == "undo":
            return _undone(request, queue)
        if request.POST.get("action") == "skip":
            return _skipped(request, queue)
        item_id, page = page_from(request.POST.dict())
        item = fetch(queue.fact_items.select_related("query", "document"), pk=item_id)
        outcome = store_page(queue, person(request), item, page)
    except InputError as error:
        return _refused(request, queue, str(error))
    item.queue = queue
    return _went_on(request, queue, item if outcome.left else None)


def _undone(request: HttpRequest, queue: Queue) -> HttpResponse:
    last = pages_given(queue, person(request)).order_by("-pk").first()
    item = undo_page(queue, person(request))
    if item is None or last is None:
        return _refused(request, queue, _("Nothing to undo."))
    keys = [fact.pk for fact in facts_of_item(item, person(request))]
    place = keys.index(last.fact_id) if last.fact_id in keys else 0
    return _went_on(request, queue, item, place // FACTS_ON_A_PAGE + 1)


def _skipped(request: HttpRequest, queue: Queue) -> HttpResponse:
    number = _number(request.POST.get("item", ""))
    item = fetch(queue.fact_items.all(), pk=None if number is None else item_of(number))
    skip_item(item, person(request))
    return _went_on(request, queue, None)


def _refused(request: HttpRequest, queue: Queue, problem: str) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return _page(request, queue, None, None, problem=problem)
    messages.error(request, problem)
    return redirect("judge_facts", queue.pk)


def _went_on(
    request: HttpRequest, queue: Queue, item: FactItem | None, number: int | None = None
) -> HttpResponse:
    if request.headers.get("HX-Request"):
        return _page(request, queue, item, number)
    named = f"?item={number_of(item.pk)}" + (f"&page={number}" if number else "") if item else ""
    return redirect(reverse("judge_facts", args=[queue.pk]) + named)


def _named(request: HttpRequest, queue: Queue) -> FactItem | None:
    """The document that the address names, where the person holds it or has judged in it."""
    number = _number(request.GET.get("item", ""))
    if number is None:
        return None
    item = queue.fact_items.filter(pk=item_of(number)).select_related("query", "document").first()
    if item is None:
        return None
    item.queue = queue
    user = person(request)
    return item if was_handed_out(item, user) else None


def _number(written: str) -> int | None:
    is_number = written.isascii() and written.isdigit() and len(written) < 19
    return int(written) if is_number and int(written) <= LARGEST_NUMBER else None


def _page(
    request: HttpRequest, queue: Queue, item: FactItem | None, number: int | None, *, problem: str = ""
) -> HttpResponse:
    user = person(request)
    state = state_of(queue)
    item = item or (claim_item if state == Queue.State.OPEN else leased_item)(queue, user)
    page = page_for(queue, user, item, number, fills_in=True) if item else None
    context: dict[str, Any] = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "page": page,
        "is_deleted": state == DELETED,
        "not_open": (still_saved_sentence if page else not_open_sentence)(state) if state != "open" else "",
        "problem": problem,
        "verdicts": [(one.value, one.in_words) for one in SupportVerdict],
        "left": left_for(item, user) if item else 0,
        "lease": lease_of(item, user) if item else None,
        "own": own_progress(queue, user),
        "can_undo": pages_given(queue, user).exists(),
        **guidelines_of(queue.collection),
        **looks_of(user, page["query"]["text"] if page else ""),
    }
    if page:
        context |= marked_document(page["document"], whole=True)
    part = bool(request.headers.get("HX-Request"))
    template = "labeling/_fact_page.html" if part else "labeling/judge_facts.html"
    return allow_images(render(request, template, context), queue.collection)


@login_required
@require_GET
def fact_queue(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = fact_queue_for(person(request), queue_id, MEMBERS)
    context: dict[str, Any] = {"queue": queue, "collection": queue.collection, "section": "queues"}
    if queue.collection.role == Role.ANNOTATOR:  # type: ignore[attr-defined]
        speak(request)
        context["own"] = own_progress(queue, person(request))
    else:
        progress = fact_progress(queue)
        context |= {"progress": progress, "done": progress["documents"] - progress["open"]}
    return render(request, "labeling/fact_queue.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def fact_queue_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    form = FactQueueForm(collection, request.POST or None)
    fill_from_address(request, form, ["pool"])
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            queue = open_fact_queue(
                values["pool"], options_from(values), name=values["name"], user=person(request)
            )
            return redirect("fact_queue", queue.pk)
        except InputError as error:
            show_problem(form, error)
    facts = Fact.objects.filter(collection=collection, state=Fact.State.CONFIRMED)
    context = {"form": form, "collection": collection, "section": "facts", "has_facts": facts.exists()}
    context["has_pools"] = form.fields["pool"].queryset.exists()  # type: ignore[attr-defined]
    return render(request, "labeling/fact_queue_new.html", context)
