"""The judging page: one item with its form, or by a script a batch; it only shows and parses."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Sequence
from typing import Any, TypedDict
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
from labeling.exposure.showing import revealed_to
from labeling.items.answers import given_in
from labeling.items.numbers import LARGEST_NUMBER, item_of, number_of
from labeling.items.passages import Part, marked_parts
from labeling.judging.blind_counts import own_figures
from labeling.judging.choices import CHOICES, reading_of
from labeling.judging.images import allow_images
from labeling.judging.leases import DELETED, PRACTICE_FIRST, EmptyQueue, claim, state_of
from labeling.judging.offers import Offer, OfferedDocument, offers_of
from labeling.judging.sentences import QUERY_SIZES, empty_sentence, is_finished, progress_parts, query_size
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment, skip, undo
from labeling.models import JudgmentEvent, Lease, PrelabelMode, Queue, Reason, Verdict
from pooling.interface.markdown import beginning_of, render_markdown
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.access import JUDGES

UNDO_STEPS = 20
#: Characters of a text that stand for a title where there is none; more are read, as markup is left out.
OPENING, READ = 60, 400
_TAG = re.compile(r"<[^>]*>")
# After so much work in a row the page offers a break.
BREAK_ITEMS, BREAK_MINUTES = 50, 15
# Characters of the guidelines on the start card.
GUIDELINES_IN_SHORT = 600


class ItemNumberField(forms.IntegerField):
    """The number of an item, as the page showed it; becomes the item's key."""

    def clean(self, value: Any) -> int | None:
        number = super().clean(value)
        return None if number is None else item_of(number)


class VerdictForm(forms.Form):
    """The form of one item, as the page without JavaScript sends it; `reason` alone means can't judge."""

    item = ItemNumberField(min_value=0, max_value=LARGEST_NUMBER)
    version = forms.IntegerField(min_value=1, required=False)
    lease = forms.UUIDField(required=False)
    key = forms.CharField(max_length=64)
    verdict = forms.ChoiceField(choices=Verdict.choices, required=False)
    reason = forms.ChoiceField(choices=[("", ""), *Reason.choices], required=False)
    note = forms.CharField(max_length=2000, required=False)
    shown = forms.ChoiceField(choices=[("passage", ""), ("document", "")], required=False)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("reason"):
            values["verdict"] = Verdict.CANNOT_JUDGE
        return values


@login_required
@require_http_methods(["GET", "POST"])
def judge(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, roles=JUDGES, deleted_too=True)
    if queue.kind == Queue.Kind.FACTS:
        return redirect("judge_facts", queue.pk)
    if request.method == "GET":
        return _show(request, queue)
    action = request.POST.get("action", "verdict")
    address = reverse("judge", args=[queue.pk])
    try:
        rest = {"undo": _undo, "skip": _skip}.get(action, _record)(request, queue)
    except InputError as error:
        messages.error(request, str(error))
        return redirect(address)
    return redirect(f"{address}?{rest}" if rest else address)


def _show(request: HttpRequest, queue: Queue) -> HttpResponse:
    offer, empty = _next_offer(request, queue)
    if empty and empty.state == PRACTICE_FIRST:
        return redirect("practice", queue.pk)
    page_data = _page_data(queue, person(request), offer)
    # "Start" names an item where there is no script; undo names one too, and the end of practice says so.
    page_data["begins"] &= not {"item", "begun"} & request.GET.keys()
    recent = page_data["recent"]
    revealed = request.GET.get("revealed", "")
    left_in_query = offer["query"]["left"] if offer else None
    own = page_data["progress"]
    counts = {
        "done_today": own["done_today"],
        "done": own["done"],
        "left_in_query": left_in_query,
        # A queue that hands nothing out has nothing left for anybody.
        "left": own["left"] if empty is None or empty.state == Queue.State.OPEN else None,
    }
    page = render(
        request,
        "labeling/judge.html",
        {
            "collection": queue.collection,
            "queue": queue,
            "item": offer,
            **(marked_document(offer["document"], whole="whole" in request.GET) if offer else {}),
            "reveals": queue.prelabel_mode == PrelabelMode.REVEAL,
            "revealed": revealed_to(queue, person(request), revealed) if revealed else None,
            "empty_sentence": "" if offer else empty_sentence(empty),
            "is_finished": not offer and is_finished(empty),
            "is_deleted": state_of(queue) == DELETED,
            "key": str(uuid.uuid4()),
            "second_key": str(uuid.uuid4()),
            "last": recent[-1] if recent else None,
            "begins": page_data["begins"] and offer is not None,
            **guidelines_of(queue.collection),
            **looks_of(person(request), offer["query"]["text"] if offer else ""),
            "reasons": Reason.choices,
            "progress_parts": progress_parts(counts),
            "page_data": page_data,
        },
    )
    return allow_images(page, queue.collection)


class Named(TypedDict):
    id: int
    name: str


class BreakAfter(TypedDict):
    items: int
    minutes: int


class RecentVerdict(TypedDict):
    key: str
    verdict: str
    word: str
    title: str


class OwnProgress(TypedDict):
    done_today: int
    done: int
    left: int


class PageData(TypedDict):
    """Data with which the script starts; `api` is the address below which it calls. begins: nothing was
    answered or skipped in this queue yet, so the start card comes first."""

    api: str
    account: Named
    queue: Named
    collection: str
    query_sizes: Sequence[int]
    break_after: BreakAfter
    lease_seconds: int
    highlight: str
    guidelines_version: str
    begins: bool
    item: Offer | None
    recent: list[RecentVerdict]
    progress: OwnProgress


def _page_data(queue: Queue, user: User, offer: Offer | None) -> PageData:
    own = own_figures(queue, user)
    return {
        "api": reverse("api_queue_claim", args=[queue.pk]).removesuffix("claim/"),
        "account": {"id": user.pk, "name": user.get_username()},
        "queue": {"id": queue.pk, "name": queue.public_title},
        "collection": queue.collection.slug,
        "query_sizes": QUERY_SIZES,
        "break_after": {"items": BREAK_ITEMS, "minutes": BREAK_MINUTES},
        "lease_seconds": queue.lease_seconds,
        "highlight": queue.highlight,
        "guidelines_version": version_of_guidelines(queue.collection),
        "begins": not own["done"] and not own["skipped"],
        "item": offer,
        "recent": recent_verdicts(queue, user),
        "progress": {"done_today": own["done_today"], "done": own["done"], "left": own["left"]},
    }


def looks_of(user: User, query: str) -> dict[str, Any]:
    return {"reading": reading_of(user), "reading_choices": CHOICES, "query_size": query_size(query)}


def guidelines_of(collection: Collection) -> dict[str, Any]:
    text = collection.guidelines.strip()
    in_short = beginning_of(text, GUIDELINES_IN_SHORT)
    return {
        "guidelines": render_markdown(text) if text else "",
        "guidelines_in_short": render_markdown(in_short) if text else "",
        "has_more_guidelines": len(in_short) < len(text),
    }


def version_of_guidelines(collection: Collection) -> str:
    return hashlib.sha256(collection.guidelines.encode()).hexdigest()[:12]


def recent_verdicts(queue: Queue, user: User) -> list[RecentVerdict]:
    """The last verdicts of `user` in the queue that are not undone, oldest first: what undo can reach."""
    undone = Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk")))
    mine = given_in(queue, user)
    begins = Substr("document__text", 1, READ)
    events = mine.annotate(undone=undone, begins=begins).select_related("document").defer("document__text")
    return [
        {
            "key": event.key,
            "verdict": event.verdict,
            "word": Verdict(event.verdict).in_words,
            "title": event.document.title or " ".join(_TAG.sub(" ", event.begins or "").split())[:OPENING],
        }
        for event in reversed(events.order_by("-pk")[:UNDO_STEPS])
        if not event.undone
    ]


class MarkedDocument(TypedDict):
    """Title and text of an offered document, cut at their marks for the template to escape and mark.

    `shown`: whether the text is the passage or the whole document; a passage may start late or end early.
    `rich`: sanitised HTML in its place, where the source is Markdown or HTML. `image`: an address.
    """

    title_parts: list[Part]
    text_parts: list[Part]
    shown: str
    starts_late: bool
    ends_early: bool
    rich: str
    image: str | None


def marked_document(document: OfferedDocument, *, whole: bool = False) -> MarkedDocument:
    """The passage where there is one, unless `whole` is asked for."""
    text, marks = document["text"] or "", document["marks"]
    start, end = document["passage"] or (0, len(text))
    if is_passage := document["passage"] is not None and not whole:
        marks = [(first - start, last - start) for first, last in marks if start <= first and last <= end]
        text = text[start:end]
    return {
        "title_parts": marked_parts(document["title"], document["title_marks"]),
        "text_parts": marked_parts(text, marks),
        "shown": "passage" if is_passage else "document",
        "rich": mark_safe(document["html"] or ""),  # noqa: S308  see labeling/judging/offers.py
        "image": document["image"],
        "starts_late": is_passage and start > 0,
        "ends_early": is_passage and end < len((document["text"] or "").rstrip()),
    }


def _next_offer(request: HttpRequest, queue: Queue) -> tuple[Offer | None, EmptyQueue | None]:
    """The item that `?item=` names, when it is leased to this person, else the next one."""
    named = request.GET.get("item", "")
    is_number = named.isdecimal() and len(named) <= len(str(LARGEST_NUMBER))
    if is_number and (lease := _own_lease(queue, person(request), item_of(int(named)))):
        return offers_of(queue, person(request), [lease])[0], None
    claimed = claim(queue, person(request), count=1)
    offers = offers_of(queue, person(request), claimed.leases)
    return (offers[0] if offers else None), claimed.empty


def _own_lease(queue: Queue, user: User, item_id: int) -> Lease | None:
    return (
        Lease.objects.filter(
            item_id=item_id, item__queue=queue, annotator=user, expires_at__gt=timezone.now()
        )
        .select_related("item__query", "item__document")
        .first()
    )


def _record(request: HttpRequest, queue: Queue) -> str:
    """Take the verdict, naming it for what is revealed; a refused one leaves the lease and comes again."""
    form = VerdictForm(request.POST)
    if not form.is_valid() or not form.cleaned_data["verdict"]:
        messages.error(request, _("The verdict was incomplete. Please choose again."))
        return ""
    values = {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}
    outcome = record_judgment(queue, person(request), Submission(**values))
    if outcome.status == "rejected":
        messages.error(request, outcome.detail)
    else:
        messages.success(request, _("Saved: {verdict}.").format(verdict=Verdict(values["verdict"]).in_words))
    return urlencode({"revealed": outcome.key}) if outcome.prelabel else ""


def _skip(request: HttpRequest, queue: Queue) -> str:
    form = VerdictForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Nothing to skip."))
        return ""
    skip(queue, person(request), form.cleaned_data["item"], lease=form.cleaned_data["lease"])
    messages.success(request, _("Skipped."))
    return ""


def _undo(request: HttpRequest, queue: Queue) -> str:
    """Undo the verdict named in the form; the next address names its item, which comes back on screen."""
    lease = undo(queue, person(request), request.POST.get("undoes", ""))
    if lease is None:
        messages.warning(request, _("Nothing to undo."))
        return ""
    messages.success(request, _("Undone. Judge this document again."))
    return urlencode({"item": number_of(lease.item_id)})
