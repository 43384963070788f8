"""A report for people with a link: figures, never names of people, texts of documents, or addresses within
the collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse

from evaluation.charts.drawing import forest_size
from evaluation.charts.html_report import lines_of, means_of, worth_of
from evaluation.charts.stored import kinds_of, usual_choice
from evaluation.comparisons.page import facts
from evaluation.comparisons.stored import compared, grade_of, turned
from evaluation.models import Report, SharedLink
from evaluation.report_store.files import figure_of, run_names
from evaluation.report_store.options import headline_k
from evaluation.report_store.settings import margin_of
from evaluation.reports.answer_card import answer_card, of_labels
from evaluation.reports.export import MADE, content_of
from evaluation.scoring.results import decimal, interval, percent
from pooling.interface.charting import VARIANTS
from pooling.interface.problems import InputError

CURVE = "curve"


@dataclass(frozen=True)
class SharedRow:
    """A run with its recall at the K of the page, in words; bar: places on a scale of 100 units."""

    run: str
    mean: str
    interval: str
    judged: str
    bar: Mapping[str, str]


@dataclass(frozen=True)
class SharedPicture:
    """Addresses of a picture by variant, and its sizes."""

    addresses: Mapping[str, str]
    wide: tuple[int, int]
    narrow: tuple[int, int]
    alt: str


def shared_report(link: SharedLink, token: str) -> dict[str, Any]:
    """The report that a link shows; nothing is measured, and pictures are drawn when they are asked for."""
    report = link.report
    content, k = content_of(report), headline_k(report.options)
    choice = usual_choice(report)
    kind, figures = kinds_of(report)[CURVE], content.figures
    # Who made it is a member.
    provenance = replace(content.provenance, made=report.created_at.strftime(MADE))
    alt = f"{kind.title(choice)}; the tables have the same numbers."
    return {
        "title": report.name,
        **_heading(report),
        "summary": content.summary,
        "answer": answer_card(report, k),
        "notes": content.notes,
        "k": k,
        "found_so_far": (basis := of_labels(report)),
        "curve_caption": f"Mean over queries{basis and f', {basis},'} with its interval.",
        "rows": _rows(report, k),
        "picture": SharedPicture(
            _addresses(token),
            kind.size(figures, choice),
            kind.size(figures, choice, narrow=True),
            alt,
        ),
        "means": list(means_of(figures, content.measures)),
        "worth": [worth_of(cells, number) for number, cells in enumerate(content.worth)],
        "lines": lines_of(figures, choice),
        "facts": provenance.facts(),
        "command": provenance.command,
    }


def shared_comparison(link: SharedLink, token: str) -> dict[str, Any]:
    """The two runs that a link compares; `InputError` where the report has no comparison of them any more."""
    report, comparisons = link.report, compared(link.report)
    if comparisons is None or link.k is None or not {link.first, link.second} <= set(comparisons.runs):
        raise InputError("This report no longer has this comparison.", missing=True)
    pair, others = comparisons.pair(link.first, link.second, link.k), len(comparisons.runs) - 1
    alt = f"Differences in Recall@{link.k} of {link.first} from the other runs, with intervals and bounds."
    return {
        "title": f"{link.first} and {link.second}",
        **_heading(report),
        "first": link.first,
        "second": link.second,
        "k": link.k,
        "sentence": grade_of(pair, margin_of(report)).sentence,
        "warnings": pair["warnings"],
        "power": pair["power"],
        "facts": facts(turned(pair, link.first), report),
        "picture": SharedPicture(
            _addresses(token), forest_size(others), forest_size(others, narrow=True), alt
        ),
    }


def _heading(report: Report) -> dict[str, Any]:
    return {
        "collection_name": report.collection.name,
        "release": report.release.name,
        "made": report.created_at.strftime("%-d %B %Y"),
    }


def _addresses(token: str) -> dict[str, str]:
    names = {variant: variant.replace("-", "_") for variant in VARIANTS}
    return {names[variant]: reverse("shared_picture", args=[token, variant]) for variant in VARIANTS}


def _rows(report: Report, k: int) -> list[SharedRow]:
    rows = []
    for run in run_names(report):
        figure, judged = figure_of(report, run, "recall", k), figure_of(report, run, "judged", k)
        places = {"mean": figure["mean"], "low": figure["low"], "high": figure["high"]}
        bar = {name: f"{100 * place:.1f}" for name, place in places.items() if place is not None}
        mean, share = decimal(figure["mean"]), percent(judged["mean"])
        rows.append(SharedRow(run, mean, interval(figure).strip(), share, bar))
    return rows
