from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from labeling.access import prelabel_pass_for, prelabeler_for_queue, queue_for
from labeling.exposure.seen_and_blind import seen_and_blind
from labeling.exposure.use import USUAL_BLIND, PrelabelUse, change_use, use_of
from labeling.models import Prelabeler, PrelabelMode, Queue
from labeling.prelabels.estimates import SAMPLE, estimate
from labeling.prelabels.export import FORMATS, export_prelabels, prelabels_file_name
from labeling.prelabels.forms import KeyForm, PassForm, ResumeForm
from labeling.prelabels.importing import withdraw_prelabels
from labeling.prelabels.options import allowed_url, store_key
from labeling.prelabels.page import models_of, not_set_up, passes_of, servers_of
from labeling.prelabels.passes import (
    SHORT_SILENCE,
    cancel_pass,
    pause_abandoned_passes,
    pause_pass,
    resume_pass,
    start_pass,
)
from labeling.prelabels.tables import use_sentence
from pooling.formats.registry import formats
from pooling.formats.wording import counted, plural
from pooling.interface.downloads import attachment
from pooling.interface.forms import EditForm, fill_from_address, show_problem
from pooling.interface.pages import person
from pooling.interface.problems import refusals
from pooling.people.access import ADMIN

MODES = (
    (PrelabelMode.BLIND, "never (blind)"),
    (PrelabelMode.REVEAL, "after a verdict that they contradict (reveal)"),
    (PrelabelMode.ASSIST, "before the verdict (assist)"),
)


class UseForm(EditForm, forms.Form):
    mode = forms.ChoiceField(choices=MODES, label="Pre-labels are shown", widget=forms.RadioSelect)
    prelabeler = forms.ModelChoiceField(
        Prelabeler.objects.none(), required=False, label="Pre-labels of", empty_label="no model"
    )
    blind_share = forms.FloatField(
        label="Share that stays blind",
        initial=USUAL_BLIND,
        help_text="The control arm: pairs drawn at random, in every mode. Annotators cannot tell which.",
    )
    second_opinion_from = forms.FloatField(
        required=False,
        label="Second opinion from this confidence",
        help_text="Such as 0.9: a verdict that contradicts a score of 0.9 or more, or 0.1 or less, "
        "asks for one more judgment by another person. Empty: no second opinions.",
    )
    understood = forms.BooleanField(
        required=False,
        label="I have read how assistance affects people",
        help_text="Required to show pre-labels before the verdict.",
    )

    def __init__(self, queue: Queue, data: Any = None) -> None:
        use = use_of(queue)
        names = ("mode", "prelabeler", "blind_share", "second_opinion_from")
        super().__init__(data, initial={name: getattr(use, name) for name in names})
        prelabelers = Prelabeler.objects.filter(collection=queue.collection_id).listed()
        self.fields["prelabeler"].queryset = prelabelers  # type: ignore[attr-defined]
        self.carry()

    def use(self) -> PrelabelUse:
        names = ("mode", "prelabeler", "blind_share", "second_opinion_from")
        return PrelabelUse(**{name: self.cleaned_data[name] for name in names})


@login_required
@require_GET
def prelabels(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Everything about the pre-labels of a queue; htmx gets the passes alone."""
    queue = queue_for(request.user, queue_id, ADMIN)
    pause_abandoned_passes(SHORT_SILENCE)
    if request.headers.get("HX-Request"):
        return render(request, "labeling/_prelabel_passes.html", _passes(queue))
    # A link such as “ask again where it failed” fills the form in.
    form = PassForm()
    fill_from_address(request, form, form.fields)
    return _page(request, queue, form)


@login_required
@require_POST
def prelabels_start(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = PassForm(request.POST)
    if not form.is_valid():
        return _page(request, queue, form)
    try:
        prelabeler, options = form.prelabeler(queue.collection, person(request)), form.options()
        if "estimate" in request.POST:
            figures = estimate(queue, prelabeler, options)
            return _page(request, queue, form, estimate=figures, estimate_of=prelabeler)
        start_pass(queue, prelabeler, options, by=person(request))
    except refusals() as error:
        show_problem(form, error)
        return _page(request, queue, form)
    messages.success(request, f"Started: {prelabeler}.")
    return redirect("prelabels", queue.pk)


@login_required
@require_POST
def prelabel_pass(request: HttpRequest, pass_id: int) -> HttpResponse:
    job = prelabel_pass_for(request.user, pass_id, ADMIN)
    form = ResumeForm(request.POST)
    try:
        match request.POST.get("action"):
            case "pause":
                pause_pass(job, by=person(request))
            case "cancel":
                cancel_pass(job, by=person(request))
            case "withdraw":
                gone = withdraw_prelabels(job, by=person(request))
                messages.success(request, f"Taken back: {counted(gone, 'pre-label')}.")
            case "resume" if form.is_valid():
                resume_pass(job, budget=form.cleaned_data["budget"], by=person(request))
            case _:
                messages.error(request, "A budget must be above 0, such as 2.50.")
    except refusals() as error:
        messages.error(request, str(error))
    return redirect("prelabels", job.queue_id)


@login_required
@require_POST
def prelabels_use(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = UseForm(queue, request.POST)
    try:
        if form.is_valid():
            understood = form.cleaned_data["understood"]
            changed = change_use(queue, form.use(), by=person(request), understood=understood)
            verb = plural(changed, "was", "were")
            items = f" {counted(changed, 'judged pair')} {verb} checked." if changed else ""
            messages.success(request, f"Stored: {queue.get_prelabel_mode_display()}.{items}")
            return redirect(f"{reverse('prelabels', args=[queue.pk])}#use")
    except refusals() as error:
        show_problem(form, error)
    return _page(request, queue, PassForm(), use_form=form)


@sensitive_post_parameters("key")
@login_required
@require_POST
def prelabel_key(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = KeyForm(request.POST)
    try:
        if form.is_valid():
            url, key = allowed_url(form.cleaned_data["key_server"]), form.cleaned_data["key"]
            store_key(queue.collection, url, key, by=person(request))
            messages.success(request, f"The key for {url} is {'stored' if key else 'removed'}.")
            return redirect("prelabels", queue.pk)
    except refusals() as error:
        show_problem(form, error)
    return _page(request, queue, PassForm(), keys=form)


@login_required
@require_GET
def prelabels_download(
    request: HttpRequest, queue_id: int, prelabeler_id: int, format: str
) -> HttpResponseBase:
    queue = queue_for(request.user, queue_id, ADMIN)
    prelabeler = prelabeler_for_queue(queue, prelabeler_id)
    try:
        content = export_prelabels(queue, prelabeler, format)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect("prelabels", queue.pk)
    return attachment(content, prelabels_file_name(queue, prelabeler, format), formats()[format].media_type)


def _passes(queue: Queue) -> dict[str, Any]:
    passes = passes_of(queue)
    return {"queue": queue, "passes": passes, "is_active": any(job.is_active for job in passes)}


def _page(
    request: HttpRequest, queue: Queue, form: PassForm, *, keys: KeyForm | None = None, **more: Any
) -> HttpResponse:
    servers = servers_of(queue, person(request))
    context = {
        **_passes(queue),
        "collection": queue.collection,
        "section": "prelabels",
        "models": models_of(queue),
        "prior": queue.selection.prior_id if queue.is_adaptive else None,
        "servers": servers,
        "not_set_up": not_set_up(servers),
        "form": form,
        "keys": keys or KeyForm(),
        "use": use_sentence(use_of(queue)),
        "use_form": UseForm(queue),
        "arms": seen_and_blind(queue),
        "formats": list(FORMATS),
        "sample": SAMPLE,
        **more,
    }
    return render(request, "labeling/prelabels.html", context)
