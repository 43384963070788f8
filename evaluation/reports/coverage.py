"""Share of the top K of each run of a report that was judged, and sentences where that is too little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.models import Report
from evaluation.report_store.files import figure_of, run_names
from evaluation.scoring.coverage import LOW_COVERAGE
from evaluation.scoring.results import percent
from pooling.formats.wording import counted, in_a_row, plural

# Runs whose coverage differs by more than this were not measured alike: their raw order says nothing.
UNEVEN_COVERAGE = 0.05


@dataclass(frozen=True)
class Coverage:
    """judged@K of all runs at one K, over the documents that were retrieved."""

    k: int
    by_run: Mapping[str, float]

    @property
    def least(self) -> tuple[str, float]:
        return min(self.by_run.items(), key=lambda item: item[1])

    @property
    def most(self) -> tuple[str, float]:
        return max(self.by_run.items(), key=lambda item: item[1])

    @property
    def uneven(self) -> bool:
        """The runs' coverage differs too much for their raw order to be read."""
        return self.most[1] - self.least[1] > UNEVEN_COVERAGE

    @property
    def low(self) -> bool:
        return self.least[1] < LOW_COVERAGE

    def lacks(self, run: str) -> bool:
        """This run's own coverage is low, or far below that of another run."""
        share = self.by_run.get(run, 1.0)
        return share < LOW_COVERAGE or self.most[1] - share > UNEVEN_COVERAGE


def coverage_by_cutoff(report: Report) -> dict[int, Coverage]:
    """The coverage at each K; runs that retrieved nothing have none and are left out."""
    by_cutoff = {}
    for k in report.options["k"]:
        shares = {run: figure_of(report, run, "judged", k)["mean"] for run in run_names(report)}
        defined = {run: share for run, share in shares.items() if share is not None}
        if defined:
            by_cutoff[k] = Coverage(k, defined)
    return by_cutoff


def report_warnings(report: Report, *, for_members: bool = True) -> list[str]:
    """Sentences on ids that do not meet labels, and of `coverage_warnings`; for_members: with examples."""
    notes: Sequence[str] = report.result.get("notes", ())
    if notes and not for_members:
        times = counted(len(notes), "warning")
        notes = [f"{times} on how runs and labels meet; the report's own page has examples."]
    return [*notes, *_unreached(report), *coverage_warnings(coverage_by_cutoff(report))]


def _unreached(report: Report) -> list[str]:
    """A warning where people's labels are below what the report takes as relevant."""
    least, counts = report.options["conventions"]["min_relevance"], report.release.sidecar["counts"]
    of_people = sum(counts[source] for source in ("human", "adjudicated", "gold"))
    if least <= 1 or not of_people:
        return []
    return [
        f"{counted(of_people, 'label')} of people {plural(of_people, 'is', 'are')} yes or no, 1 or 0: none "
        f"reaches {least}, the least relevance that counts in this report."
    ]


def coverage_warnings(coverage: Mapping[int, Coverage]) -> list[str]:
    """One sentence for what the labels do not carry, naming the K and the runs at the extremes."""
    warnings = []
    uneven = [at for at in coverage.values() if at.uneven]
    if uneven:
        widest = max(uneven, key=lambda at: at.most[1] - at.least[1])
        (low_run, low), (high_run, high) = widest.least, widest.most
        warnings.append(
            f"The runs were not judged alike: judged@K differs by more than 5 points at {_cutoffs(uneven)} "
            f"(at {widest.k}: {percent(low)} for {low_run}, {percent(high)} for {high_run}). "
            "Do not compare the runs at those cutoffs."
        )
    thin = [at for at in coverage.values() if at.low]
    if thin:
        run, share = thin[-1].least
        warnings.append(
            f"Coverage is below 80 % at {_cutoffs(thin)} (at {thin[-1].k}: {percent(share)} for {run}). "
            "Recall can be far from the printed number there; read it with its bounds."
        )
    return warnings


def _cutoffs(coverages: Sequence[Coverage]) -> str:
    words = [str(at.k) for at in coverages]
    return f"K = {in_a_row(words)}"
