"""What a report's page and its HTML file show of an audit by scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from evaluation.rendering.cells import Cells
from evaluation.scoring.estimate_figures import (
    EstimateFigure,
    NamedPool,
    NamedScoreAudit,
    NoEstimate,
    ScoreAuditCounts,
    ScoreAuditEstimates,
    ScoreStratum,
)
from evaluation.scoring.wording import decimal, interval, share_in_words

TITLE = "Estimated from an audit by scores"
# Of more pairs of runs the page shows the first; the HTTP interface has all.
MOST_DIFFERENCES = 15


class FigureInWords(TypedDict):
    """A figure with its interval and method; if_relevant: with what nobody could judge, where it matters."""

    value: str
    interval: str
    method: str
    if_relevant: str
    why: str


class ScoreAuditRow(TypedDict):
    """One run's recall and precision over all pairs."""

    run: str
    recall: FigureInWords
    precision: FigureInWords


class DifferenceRow(FigureInWords):
    """The difference of two runs."""

    first: str
    second: str


class StratumShare(ScoreStratum):
    """A stratum, and the share of what is labelled of it that is relevant."""

    share: str


class ScoreAuditPart(TypedDict):
    """What the page shows of an audit by scores at one K."""

    status: str
    sentence: str
    pool: NamedPool
    audit: NamedScoreAudit
    counts: ScoreAuditCounts
    notes: list[str]
    strata: list[StratumShare]
    level: str
    rows: list[ScoreAuditRow]
    differences: list[DifferenceRow]
    more_differences: int


def by_scores_context(
    found: ScoreAuditEstimates | None, runs: Sequence[str], k: int
) -> ScoreAuditPart | None:
    """`audit_by_scores` of a report at one K, as the page shows it; None where there is none."""
    if found is None:
        return None
    rows: list[ScoreAuditRow] = [
        {
            "run": run,
            "recall": _in_words(figures[f"recall@{k}"]["micro"]),
            "precision": _in_words(figures[f"precision@{k}"]["micro"]),
        }
        for run in runs
        if f"recall@{k}" in (figures := found["runs"].get(run, {}))
    ]
    differences: list[DifferenceRow] = [
        {"first": one["first"], "second": one["second"], **_in_words(one)}
        for one in found["differences"]
        if one["k"] == k
    ]
    return {
        "status": found["status"],
        "sentence": found["sentence"],
        "pool": found["pool"],
        "audit": found["audit"],
        "counts": found["counts"],
        "notes": found["notes"],
        "strata": [{**one, "share": _share(one)} for one in found["strata"]],
        "level": share_in_words(found["relevant"]["confidence"]) if found["relevant"] else "",
        "rows": rows,
        "differences": differences[:MOST_DIFFERENCES],
        "more_differences": max(len(differences) - MOST_DIFFERENCES, 0),
    }


def by_scores_cells(found: ScoreAuditEstimates) -> Cells:
    """The same as a table of text for files: one row per run and K."""
    header = ("run", "K", "micro recall", "by", "precision")
    rows = []
    for run, by_key in found["runs"].items():
        for k in (key.partition("@")[2] for key in by_key if key.startswith("recall@")):
            recall, precision = (by_key[f"{name}@{k}"]["micro"] for name in ("recall", "precision"))
            both = [decimal(one["value"]) + interval(one) for one in (recall, precision)]
            rows.append((run, k, both[0], recall.get("method", ""), both[1]))
    drawn = f"Drawn from pool “{found['pool']['name']}” by the scores of {found['audit']['model']}."
    notes = [drawn, found["sentence"], *found["notes"]]
    if found["relevant"]:
        level = share_in_words(found["relevant"]["confidence"])
        notes.insert(2, f"[low, high]: {level} interval; it covers which labels were drawn.")
    return Cells(header, tuple(rows), tuple(notes), TITLE)


def _in_words(one: EstimateFigure | NoEstimate) -> FigureInWords:
    if_relevant = one.get("value_if_relevant")
    return {
        "value": decimal(one["value"]),
        "interval": interval(one).strip(),
        "method": one.get("method", ""),
        "if_relevant": "" if if_relevant in (None, one["value"]) else decimal(if_relevant),
        "why": one.get("why", ""),
    }


def _share(stratum: ScoreStratum) -> str:
    """Of what is labelled of a stratum, the share that is relevant."""
    answered = stratum["sampled"] - stratum["cannot_judge"]
    return f"{100 * stratum['relevant'] / answered:.0f} %" if answered else "–"
