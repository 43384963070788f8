from __future__ import annotations

from typing import NotRequired, TypedDict

from evaluation.scoring.figures import PlainConventions
from evaluation.scoring.wording import usual_cutoff
from pooling.runs.stored import RunProvenance

#: The weights of a report whose queries count once each.
UNWEIGHTED = "none"


class ReleaseStamp(TypedDict):
    name: str
    sha256: str


class ReportOptions(TypedDict):
    """Inputs that make the same report again, and show whether they are still the same.

    measures: names, of which the page offers each; asked: as they were asked for, with `map@10` next to
    `map`. pools: those of the bounds; pool: that of the estimates. again_of: the report that this one
    repeats. headline: the K of the answer. weights: the target of the means, or `none`, where queries were
    drawn from a log. queries: those of the collection, with a label or not.
    """

    release: ReleaseStamp
    runs: list[RunProvenance]
    k: list[int]
    measures: list[str]
    asked: list[str]
    conventions: PlainConventions
    confidence: float | None
    tags: list[str]
    minimum_queries: int | None
    thresholds: dict[str, float]
    bootstrap_samples: int | None
    seed: int | None
    margin: float | None
    pools: list[str]
    queries: int
    software: dict[str, str]
    pool: NotRequired[str | None]
    again_of: NotRequired[int]
    headline: NotRequired[int]
    weights: NotRequired[str]


def headline_k(options: ReportOptions) -> int:
    """The K that a report shows unless another is chosen: that of its answer."""
    return options.get("headline") or usual_cutoff(options["k"])
