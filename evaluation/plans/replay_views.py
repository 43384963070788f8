from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import replay_for
from evaluation.charts.drawing import picture_size
from evaluation.models import Replay
from evaluation.plans import replay_files
from evaluation.plans.replay_files import by_share, replay_key, result_in_order
from evaluation.plans.simulation import LabelledPoolResult, OutcomeResult
from evaluation.plans.stored_replays import BUDGETS, DEPTH, MOST_SEEDS, ReplayRequest, request_replay
from labeling.models import QrelsRelease
from labeling.qrels.labels import has_labels
from pooling.formats.wording import plural
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered
from pooling.interface.forms import FIRST, GroupedForm, show_problem
from pooling.interface.problems import InputError
from pooling.merging.choice import strategies_offered
from pooling.models import Collection, Run
from pooling.people.access import ADMIN, collection_for
from pooling.strategies import STRATEGIES
from pooling.tables.answers import answer
from pooling.tables.columns import Column, own_page
from pooling.tables.table import Table

# Above this share of pairs without a label, a replay says little about the whole pool.
MANY_UNLABELLED = 0.2
# With fewer queries than this, one query moves the means.
FEW_QUERIES = 10
SETTINGS = ("depth", "seeds", "noise", "batch", "k")


class PoolPart(LabelledPoolResult):
    """left_out: pairs without a label."""

    left_out: int


def replay_context(replay: Replay) -> dict[str, Any]:
    result = result_in_order(replay)
    strategies, pool = result["strategies"], result["pool"]
    budgets = [float(share) for share in by_share(result["all_knowing"]["found"])]
    middle = f"{budgets[len(budgets) // 2]:g}"
    ranked = sorted(strategies, key=lambda name: -(strategies[name]["found"][middle] or 0.0))
    return {
        "budgets": [rounded_percent(budget) for budget in budgets],
        "efforts": [rounded_percent(float(share)) for share in result["all_knowing"]["effort"]],
        "middle": rounded_percent(float(middle)),
        "rows": [strategy_row(name, strategies[name]) for name in ranked],
        "best": decimals(result["all_knowing"]["found"]) + decimals(result["all_knowing"]["effort"]),
        "sampled": any(
            value is not None
            for figures in strategies.values()
            for value in figures["estimated_recall_error"].values()
        ),
        "pool": {**pool, "left_out": pool["pairs"] - pool["labelled"]},
        "unlabelled": rounded_percent(pool["unlabelled_share"]),
        "warnings": replay_warnings(replay, pool),
        "summary": finds_in_words(strategies, ranked, middle),
        "settings": {name: replay.options[name] for name in SETTINGS},
        "labels": replay.options["labels"],
        "runs": [run["name"] for run in replay.options["runs"]],
        "chart_key": replay_key(replay),
        "wide_size": picture_size(len(strategies), 2),
        "narrow_size": picture_size(len(strategies), 2, narrow=True),
    }


def rounded_percent(share: float) -> str:
    """A share as words: `25 %`, `2.5 %`."""
    return f"{round(100 * share, 1):g} %"


def strategy_row(name: str, figures: OutcomeResult) -> dict[str, Any]:
    return {
        "name": name,
        "summary": STRATEGIES[name].summary if name in STRATEGIES else "",
        "finds": decimals(figures["found"]) + decimals(figures["effort"]),
        "spread": max((value or 0.0 for value in figures["spread"].values()), default=0.0),
        "tau": decimals(figures["tau"]),
        "raw": decimals(figures["micro_recall_error"]),
        "estimated": decimals(figures["estimated_recall_error"]),
    }


def decimals(values: Mapping[str, float | None]) -> list[str]:
    return ["–" if value is None else f"{value:.3f}" for value in values.values()]


def finds_in_words(strategies: Mapping[str, OutcomeResult], ranked: Sequence[str], middle: str) -> str:
    share = rounded_percent(float(middle))
    first, last = ranked[0], ranked[-1]
    best = rounded_percent(strategies[first]["found"][middle] or 0.0)
    if len(ranked) == 1:
        return f"After {share} of each query's pool, {first} has found {best} of what is relevant."
    worst = rounded_percent(strategies[last]["found"][middle] or 0.0)
    return (
        f"After {share} of each query's pool, {first} has found {best} of what is relevant, {last} {worst}."
    )


def replay_warnings(replay: Replay, pool: LabelledPoolResult) -> list[str]:
    warnings = []
    for part in replay.options["chosen_by"]:
        warnings.append(
            f"Pool “{part['name']}” was judged in part: {part['chosen_count']:,} of its "
            f"{part['pair_count']:,} pairs, which the strategy {part['strategy']} had chosen. What it left "
            f"out has no label and is missing here, so these labels speak for that strategy and its kin."
        )
    if pool["unlabelled_share"] > MANY_UNLABELLED:
        warnings.append(
            f"{rounded_percent(pool['unlabelled_share'])} of the pairs have no label and are left out. The "
            "order among the others is compared fairly; how much there is to find in the whole pool is not "
            "known."
        )
    if pool["runs"] == 1:
        warnings.append(
            "There is only one run. With nothing to compare it to, every strategy follows its list, so "
            "they differ little or not at all, and there is no ranking of runs."
        )
    if pool["queries"] < FEW_QUERIES:
        count = pool["queries"]
        warnings.append(
            f"Only {count} {plural(count, 'query counts', 'queries count')}: a single one moves these means."
        )
    return warnings


def _labels(replay: Replay) -> str:
    return replay.options.get("labels", {}).get("release") or "current labels"


def _runs(replay: Replay) -> int:
    return len(replay.options.get("runs", ()))


def _strategies(replay: Replay) -> int:
    return len(replay.options.get("strategies", ()))


REPLAYS = Table(
    "replays",
    "replay",
    columns=(
        Column("name", "Replay", natural=True, link=own_page, style="id"),
        Column("labels", "Labels", _labels),
        Column("runs", "Runs", _runs, number=True),
        Column("depth", "Depth", "options.depth", number=True),
        Column("strategies", "Strategies", _strategies, number=True),
        Column("created", "Created", "created_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "created_by.username", style="quiet"),
    ),
    sort="-created",
    search=("name", "labels", "by"),
    search_hint="Name, labels or person",
    choose="replays",
    caption="Each replay judges labelled pairs again with several strategies. Replays never change.",
)


class ReplayForm(GroupedForm, forms.Form):
    GROUPS = {
        FIRST: ("release", "runs", "depth"),
        "What to compare": ("strategies",),
        "Budgets, and how labels come in": ("budgets", "seeds", "noise", "batch"),
        "Name and K": ("name", "k"),
    }

    name = forms.CharField(max_length=200, required=False, help_text="Empty: named after labels and depth.")
    release = forms.ModelChoiceField(
        QrelsRelease.objects.none(),
        required=False,
        empty_label="The labels as they stand now",
        label="Labels",
        help_text="Those of a release can be replayed again later, with the same result.",
    )
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=forms.CheckboxSelectMultiple)
    depth = forms.IntegerField(min_value=1, help_text="How far down each run's list the pool goes.")
    strategies = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    budgets = forms.CharField(
        max_length=200, help_text="Shares of each query's pool at which to look; 0.25 is a quarter."
    )
    seeds = forms.IntegerField(
        min_value=1,
        max_value=MOST_SEEDS,
        initial=1,
        help_text="How often to repeat what depends on chance; the mean is shown, with its spread.",
    )
    noise = forms.FloatField(
        initial=0,
        help_text="Share of wrong labels, since people make mistakes; 0.1 is one in ten. Below 0.5.",
    )
    batch = forms.IntegerField(
        min_value=1,
        initial=1,
        help_text="Labels revealed to a strategy at a time. With several annotators, about ten.",
    )
    k = forms.IntegerField(
        min_value=1, required=False, label="K", help_text="Cutoff of the recalls. Empty: the depth."
    )

    def __init__(self, data: Any = None, *, collection: Collection) -> None:
        super().__init__(data, label_suffix="")
        runs = collection.runs.listed().defer("preflight")
        self.fields["release"].queryset = collection.releases.listed().defer("sidecar")  # type: ignore[attr-defined]
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].initial = [run.pk for run in runs]
        self.fields["depth"].initial = min(DEPTH, max((run.depth for run in runs), default=DEPTH))
        self.fields["strategies"].choices = strategies_offered()  # type: ignore[attr-defined]
        self.fields["strategies"].initial = list(STRATEGIES)
        self.fields["budgets"].initial = " ".join(map(str, BUDGETS))

    def clean_budgets(self) -> list[float]:
        words = [word for word in re.split(r"[\s;]+|,\s", self.cleaned_data["budgets"]) if word]
        try:
            return [float(word) for word in words]
        except ValueError:
            raise forms.ValidationError(
                "Write shares as numbers separated by spaces, such as 0.1 0.25 0.5."
            ) from None

    def request(self) -> ReplayRequest:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return ReplayRequest(
            name=values["name"] or None,
            release=values["release"].name if values["release"] else None,
            runs=[run.name for run in values["runs"]],
            **{
                name: values[name]
                for name in ("depth", "strategies", "budgets", "seeds", "noise", "batch", "k")
            },
        )


@login_required
@require_safe
def replays(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    rows = collection.replays.listed().select_related("created_by").defer("result")
    context = {
        "collection": collection,
        "section": "replays",
        "table": REPLAYS.shown(request, list(rows), collection),
        "has_runs": collection.runs.exists(),
        "has_labels": has_labels(collection),
    }
    return answer(request, "evaluation/replays.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def replay_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    form = ReplayForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        try:
            made = request_replay(collection, form.request(), request.user)  # type: ignore[arg-type]
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    context = {
        "collection": collection,
        "section": "replays",
        "form": form,
        "has_runs": collection.runs.exists(),
        "has_labels": has_labels(collection),
    }
    return render(request, "evaluation/replay_new.html", context)


@login_required
@require_safe
def one_replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    replay = replay_for(request.user, replay_id)
    context = {"collection": replay.collection, "section": "replays", "replay": replay}
    return render(request, "evaluation/replay.html", {**context, **replay_context(replay)})


@login_required
@require_safe
def replay_download(request: HttpRequest, replay_id: int, format: str) -> HttpResponseBase:
    replay = replay_for(request.user, replay_id)
    stem = slugify(replay.name) or f"replay-{replay.pk}"
    return offered(replay_files.FILES, format, stem, replay)


@login_required
@require_safe
def replay_chart(request: HttpRequest, replay_id: int, variant: str) -> HttpResponse:
    replay = replay_for(request.user, replay_id)
    if variant not in VARIANTS:
        raise Http404("This replay has no such chart.")
    return HttpResponse(replay_files.replay_svg(replay, variant), content_type="image/svg+xml")
