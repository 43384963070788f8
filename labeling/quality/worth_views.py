from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from labeling.access import prelabeler_for_admin, prelabeler_for_queue, queue_for
from labeling.models import Prelabeler
from labeling.prelabels.forms import SIZES
from labeling.quality.samples import METHODS, USUAL, Wanted, open_sample, samples_of
from labeling.quality.worth import worth, worth_of_all
from labeling.quality.worth_facts import WorthRow
from labeling.quality.worth_figures import Bin
from labeling.queues.score_order import order_in_words, order_or_start
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, VARIANTS, finished, in_look, to_svg
from pooling.interface.forms import show_problem
from pooling.interface.pages import page_of, person
from pooling.interface.problems import refusals
from pooling.models import Job
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table

SHARE = ("value", "low", "high")


def picture_size(*, narrow: bool = False) -> tuple[int, int]:
    return (340, 320) if narrow else (480, 400)


def calibration_chart(bins: Sequence[Bin], *, narrow: bool) -> alt.LayerChart:
    """The share of relevant over the mean score of each bin, with 95 % intervals and the diagonal."""
    theme = LIGHT
    table = pd.DataFrame(
        [{"score": row.score, **vars(row.relevant)} for row in bins], columns=["score", *SHARE]
    ).astype(float)
    scale = alt.Scale(domain=[0, 1], nice=False)
    across = alt.X(
        "score:Q",
        title="Score: probability of relevant, from the model",
        scale=scale,
        axis=alt.Axis(format=".0%", tickCount=5, grid=False),
    )

    def at(column: str) -> alt.Y:
        return alt.Y(
            f"{column}:Q",
            title="Share relevant, from people",
            scale=scale,
            axis=alt.Axis(format=".0%", tickCount=5),
        )

    ideal = alt.Chart(pd.DataFrame({"score": [0.0, 1.0], "value": [0.0, 1.0]})).mark_line(
        color=theme.quiet, strokeDash=[4, 4], strokeWidth=1
    )
    base = alt.Chart(table).encode(x=across)
    interval = base.mark_rule(strokeWidth=3, color=theme.runs[0], opacity=0.45)
    mark = base.mark_point(filled=True, size=70, color=theme.runs[0], opacity=1)
    layers = [
        ideal.encode(x=across, y=at("value")),
        interval.encode(y=at("low"), y2=alt.Y2("high:Q")),
        mark.encode(y=at("value")),
    ]
    return finished(layers, picture_size(narrow=narrow), theme)


def calibration_svg(bins: Sequence[Bin], variant: str) -> bytes:
    """The picture as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    return in_look(to_svg(calibration_chart(bins, narrow=variant.endswith("narrow"))), variant)


def _address(row: WorthRow) -> str:
    return reverse("prelabeler", args=[row["prelabeler"].pk])


def _verdict(row: WorthRow) -> str:
    return row["verdict"] or row["why"]


PRELABELERS = Table(
    "prelabelers",
    "model",
    columns=(
        Column("model", "Model", "prelabeler.model", natural=True, link=_address, style="id"),
        Column("way", "Prompt", "prelabeler.prompt", natural=True, template="labeling/_prelabelers_way.html"),
        Column("verdict", "Verdict", _verdict, template="labeling/_prelabelers_verdict.html", style="wide"),
        Column("pairs", "Pairs", number=True),
        Column("labels", "Blind labels", number=True),
    ),
    search=("model", "way"),
    search_hint="Model or prompt",
    empty=Empty("No model has been asked yet. Open a queue and choose Pre-labels by a model."),
)


class SampleForm(forms.Form):
    """Sizes of a verification sample; shares are given in percent."""

    negatives_method = forms.ChoiceField(required=False, label="Sample of what it calls not relevant")
    negatives_bound = forms.FloatField(
        min_value=0.1, max_value=50, label="Percent", help_text="Shows that at most this share is relevant."
    )
    positives_method = forms.ChoiceField(required=False, label="Sample of what it calls relevant")
    positives_bound = forms.FloatField(
        min_value=0.1, max_value=50, label="Percent", help_text="Margin of error in points (±)."
    )
    judgments_per_item = forms.IntegerField(initial=1, min_value=1, max_value=20, label="Judgments per pair")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, usual in USUAL.items():
            method, bound = self.fields[f"{name}_method"], self.fields[f"{name}_bound"]
            method.choices = [(value, SIZES[value]) for value in (*METHODS, "")]  # type: ignore[attr-defined]
            method.initial, bound.initial = usual.method, usual.bound * 100

    def wanted(self) -> list[Wanted]:
        data = self.cleaned_data
        return [Wanted(data[f"{name}_method"] or None, data[f"{name}_bound"] / 100) for name in USUAL]


QUERIES_PER_PAGE = 25
KEPT_SECONDS = 600


@login_required
@require_GET
def prelabelers(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    rows = worth_of_all(collection)
    context = {
        "collection": collection,
        "section": "prelabels",
        "table": PRELABELERS.shown(request, rows, collection),
        "best": [row["best"]["sentence"] for row in rows if row["best"]],
    }
    return answer(request, "labeling/prelabelers.html", context)


@login_required
@require_GET
def prelabeler(request: HttpRequest, prelabeler_id: int) -> HttpResponse:
    return _page(request, prelabeler_for_admin(request.user, prelabeler_id), SampleForm())


@login_required
@require_POST
def sample(request: HttpRequest, prelabeler_id: int) -> HttpResponse:
    prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
    form = SampleForm(request.POST)
    if form.is_valid():
        try:
            needed = form.cleaned_data["judgments_per_item"]
            queue = open_sample(prelabeler, *form.wanted(), judgments_per_item=needed, by=person(request))
            messages.success(request, f"Queue “{queue.name}” is open; people judge it blind.")
            return redirect(queue)
        except refusals() as error:
            show_problem(form, error)
    return _page(request, prelabeler, form)


@login_required
@require_GET
def calibration(request: HttpRequest, prelabeler_id: int, variant: str) -> HttpResponse:
    prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
    if variant not in VARIANTS:
        raise Http404("No such chart.")
    bins = worth(prelabeler)["calibration"].bins
    key = f"calibration-{hashlib.sha256(repr(bins).encode()).hexdigest()}-{variant}"
    content = cache.get_or_set(key, lambda: calibration_svg(bins, variant), KEPT_SECONDS)
    return HttpResponse(content, content_type="image/svg+xml")


@login_required
@require_POST
def order(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Put what is left of a queue in the order of a model's scores, or of an adaptive one without them."""
    queue = queue_for(request.user, queue_id, ADMIN)
    named = request.POST.get("prelabeler", "")
    number = int(named) if named.isascii() and named.isdigit() else 0
    prelabeler = None if "without" in request.POST else prelabeler_for_queue(queue, number)
    try:
        done = order_or_start(queue, prelabeler, by=person(request))
    except refusals() as error:
        messages.error(request, str(error))
        return redirect("prelabels", queue.pk)
    if isinstance(done, Job):
        return redirect(done)
    messages.success(request, f"{order_in_words(queue, prelabeler, done)}.")
    return redirect("prelabels", queue.pk)


def _page(request: HttpRequest, prelabeler: Prelabeler, form: SampleForm) -> HttpResponse:
    figures = worth(prelabeler)
    page = page_of(request, figures["by_query"], QUERIES_PER_PAGE)
    context = {
        "prelabeler": prelabeler,
        "collection": prelabeler.collection,
        "section": "prelabels",
        "worth": figures,
        "page": page,
        "samples": samples_of(prelabeler),
        "form": form,
        "wide_size": picture_size(),
        "narrow_size": picture_size(narrow=True),
        # So that a picture is fetched again when there are more labels.
        "picture_key": f"{figures['labels']}-{figures['pairs']}",
    }
    return render(request, "labeling/prelabeler.html", context)
