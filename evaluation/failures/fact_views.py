from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from evaluation.access import report_for
from evaluation.charts.page import picture_of
from evaluation.charts.stored import kinds_of, usual_choice
from evaluation.failures.fact_lists import FactsOfRun, fact_list
from evaluation.failures.stored_facts import (
    difference_of,
    fact_table_rows,
    facts_in,
    fill_others,
    placed_within,
    stale_documents,
)
from evaluation.models import Report
from evaluation.report_store.files import run_names, usual_cutoff
from pooling.heavy import pl
from pooling.interface.forms import say_instead
from pooling.interface.pages import parameter
from pooling.interface.problems import InputError
from pooling.tables.answers import answer

MOST_STALE = 50
FACT_PICTURES = ("facts", "facts-by-characters")
NO_FACTS = "This report has no facts: its release had none, or nobody had judged any."


@login_required
@require_safe
def report_facts(request: HttpRequest, report_id: int) -> HttpResponseBase:
    """The facts of one run at one K: `?run=`, `?k=`, and next to another run `?against=`."""
    report = report_for(request.user, report_id)
    facts = facts_in(report)
    if facts is None:
        raise Http404(NO_FACTS)
    runs = run_names(report)
    run, k = (chosen_run(report, parameter(request, "run")), chosen_cutoff(report, parameter(request, "k")))
    if parameter(request, "k") not in ("", str(k)):
        say_instead(request, "k", parameter(request, "k"), f"k={k}")
    against = parameter(request, "against")
    other = against if against in runs and against != run else None
    if against and other is None:
        say_instead(request, "against", against)
    stale = stale_documents(report, run, k)
    ours, theirs = (placed_within(report, name, k) if name and other else None for name in (run, other))
    kinds, choice = kinds_of(report), usual_choice(report)
    context = {
        "report": report,
        "collection": report.collection,
        "section": "reports",
        "runs": runs,
        "run": run,
        "k": k,
        "other": other,
        "difference": difference_of(report, run, other, k) if other else None,
        "only_here": _number_beside(ours, theirs),
        "only_there": _number_beside(theirs, ours),
        "cutoffs": report.options["k"],
        "rows": fact_table_rows(facts, runs, k),
        "curve": [
            (each, facts["runs"][run][f"fact_recall@{each}"], facts["context"][run].get(str(each)))
            for each in report.options["k"]
        ],
        "facts": facts,
        "pictures": [picture_of(report, kinds[name], choice) for name in FACT_PICTURES if name in kinds],
        "stale": stale[:MOST_STALE],
        "more_stale": max(len(stale) - MOST_STALE, 0),
        "lines": [(name, facts["runs"][name][f"fact_recall@{k}"].get("line", "")) for name in runs],
        "table": replace(fact_list(k, other), prepare=partial(fill_others, report, run, k)).shown(
            request, FactsOfRun(report, run, k, other), report.collection
        ),
    }
    return answer(request, "evaluation/report_facts.html", context)


def _number_beside(facts: pl.DataFrame | None, others: pl.DataFrame | None) -> int:
    return 0 if facts is None or others is None else facts.join(others, on=facts.columns, how="anti").height


def chosen_run(report: Report, name: str, field: str = "run") -> str:
    """The run of this name, or the report's best by its first measure. field: which input named it."""
    runs = run_names(report)
    if name and name not in runs:
        raise InputError(f"This report has no run “{name}”.", field=field, missing=True)
    return name or runs[0]


def chosen_cutoff(report: Report, written: str) -> int:
    """The K that an address names, if the report has it; else the usual one."""
    cutoffs: Sequence[int] = report.options["k"]
    is_there = written.isascii() and written.isdigit() and len(written) < 9 and int(written) in cutoffs
    return int(written) if is_there else usual_cutoff(cutoffs)
