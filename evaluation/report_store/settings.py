"""The settings of a report as they are shown and downloaded, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.logs.applying import weighted_notes
from evaluation.models import Report
from evaluation.report_store.options import UNWEIGHTED
from evaluation.scoring.config import SETTINGS, Settings
from evaluation.scoring.conventions import CONVENTIONS, PRESET, Conventions
from evaluation.scoring.estimate_figures import COMPLETE, PoolOfEstimates
from evaluation.scoring.figures import ThresholdResult, WeightedHow
from evaluation.scoring.results import share_in_words
from evaluation.scoring.wording import rests_on
from pooling.models import Pool


def settings_of(report: Report) -> Settings:
    """The evaluation file that makes this report again, from the runs and the release that it names."""
    options = report.options
    return Settings(
        k=tuple(options["k"]),
        measures=tuple(options["asked"]),
        confidence=options["confidence"],
        tags=tuple(options["tags"]) or None,
        minimum_queries=options["minimum_queries"],
        samples=options["bootstrap_samples"],
        seed=options["seed"],
        margin=options["margin"],
        conventions=options["conventions"],
        thresholds=options["thresholds"] or None,
    )


def margin_of(report: Report) -> float:
    """The difference in mean recall that does not matter."""
    return float(report.options["margin"])


def settings_context(report: Report) -> dict[str, Any]:
    return {
        "query_warnings": report.result.get("warnings", []),
        "thresholds": _thresholds(report),
        "settings": [(name, _in_words(value)) for name, value in _settings(report)],
    }


def pool_of_estimates(report: Report) -> Pool | None:
    """The pool that a report's estimates rest on, whatever its name now; None where it is gone."""
    pools = report.collection.pools.select_related("collection").defer("diagnostics")
    stored_pool: PoolOfEstimates | None = report.result["estimates"]["pool"]
    if stored_pool and "id" in stored_pool:
        return pools.filter(pk=stored_pool["id"]).first()
    # A large report has no estimates, and only the name of the pool that was asked for.
    name = report.options.get("pool")
    return pools.filter(name=name).first() if name else None


def _settings(report: Report) -> list[tuple[str, Any]]:
    settings = settings_of(report)
    titles = {name: one.title for name, one in {**SETTINGS, **CONVENTIONS, "preset": PRESET}.items()}
    rows = {
        "k": settings.k,
        "measures": settings.measures,
        **settings.conventions,
        "confidence": share_in_words(settings.confidence or 0),
        "tags": settings.tags,
        "minimum_queries": settings.minimum_queries,
        "thresholds": tuple(f"{key} ≥ {wanted:g}" for key, wanted in (settings.thresholds or {}).items()),
        "samples": settings.samples,
        "seed": settings.seed,
        "margin": f"{margin_of(report):g}",
    }
    named_values = [(titles[name], value) for name, value in rows.items()]
    return [
        *named_values,
        *([("Weights", report.options["weights"])] if "weights" in report.options else []),
        (
            "Estimates rest on",
            pool.name if (pool := pool_of_estimates(report)) else report.options.get("pool"),
        ),
    ]


def _in_words(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _thresholds(report: Report) -> list[dict[str, Any]]:
    results: Mapping[str, ThresholdResult] = report.result.get("thresholds", {})
    return [
        {
            "key": key,
            "wanted": f"{result['at_least']:g}",
            "below": result["below"],
            "rests_on": rests_on(complete=result.get("basis") == COMPLETE),
        }
        for key, result in results.items()
    ]


def conventions_in_words(report: Report) -> str:
    """The convention line of the whole report: what is the same for all its numbers."""
    counts, weights = report.result["queries"], weights_of(report)
    line = Conventions(**report.options["conventions"]).line(
        scored=counts["scored"],
        total=counts["labelled"],
        without_relevant=counts["without_relevant"],
        outside=outside_draw(report),
    )
    chunked: dict[str, list[str]] = {}
    for run in report.options["runs"]:
        if words := run.get("chunks"):
            chunked.setdefault(words, []).append(run["name"])
    words = [line, *([weights["words"]] if weights else [])]
    return " · ".join([*words, *(f"{', '.join(names)}: {words}" for words, names in chunked.items())])


def weights_of(report: Report) -> WeightedHow | None:
    """How a report weighs its queries; None where none of them was drawn from a log."""
    how: WeightedHow | None = report.result["conventions"].get("weights")
    return how


def outside_draw(report: Report) -> int:
    """Labelled queries that are in no mean because they were not drawn."""
    how = weights_of(report)
    return 0 if how is None or how["target"] == UNWEIGHTED else how["strangers"]


def weights_in_words(report: Report) -> list[str]:
    how = weights_of(report)
    return [] if how is None else list(weighted_notes(how))
