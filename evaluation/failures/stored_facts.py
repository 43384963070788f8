from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from django.core.files.storage import default_storage

from evaluation.facts.comparing import ComparedRun, FactDifference, compared_facts
from evaluation.facts.shapes import ContextFigure, FactFigure, ReportFacts
from evaluation.failures.fact_reports import MeasuredFacts
from evaluation.models import Report
from evaluation.report_store.files import beside, put_frame
from pooling.heavy import pl
from pooling.storage.copies import local_path

PLACES, DOCUMENTS, TOPS = "facts.parquet", "fact-documents.parquet", "fact-tops.parquet"


@dataclass
class FactRow:
    """A fact as it stands in one run."""

    query_id: str
    fact_id: str
    text: str
    importance: str
    group: str
    place: Annotated[int | None, "Of the first document that supports it; null where none is retrieved."]
    document_id: Annotated[str | None, "That document."]
    part: Annotated[int | None, "The first place that supports a part."]
    findable: Annotated[bool, "Whether any judged document supports it."]
    judged: Annotated[bool, "Whether any document was judged for it."] = True
    # Filled in by `fill_others`.
    others: Annotated[Sequence[str], "Runs whose first K hold it."] = ()

    @property
    def where(self) -> str:
        if self.place is not None:
            return f"place {self.place}"
        if self.part is not None:
            return f"a part of it, place {self.part}"
        if not self.judged:
            return "nobody has judged a document for it"
        return "not retrieved" if self.findable else "no judged document supports it"


@dataclass(frozen=True)
class StaleDocument:
    """A document in the first K that supports facts which all stand above it already."""

    query_id: str
    document_id: str
    place: int
    supported: int


def facts_in(report: Report) -> ReportFacts | None:
    """What was measured; None where the release had no facts."""
    facts: ReportFacts | None = report.result.get("facts")
    return facts


def store_facts(report: Report, facts: MeasuredFacts) -> None:
    """Write the frames next to the report's other files, a row group for each run."""
    runs = max(facts.places["run"].n_unique(), 1)
    for name, frame in ((PLACES, facts.places), (DOCUMENTS, facts.documents), (TOPS, facts.tops)):
        put_frame(beside(report, name), frame, max(len(frame) // runs, 1))


def places_of(report: Report, run: str) -> pl.LazyFrame:
    """Every fact that counts, by query and in its order, with the columns of `FactRow`, as one run has it."""
    return _places(report).filter(pl.col("run") == run).drop("run")


def placed_within(report: Report, run: str, k: int) -> pl.DataFrame:
    """query_id, fact_id of what a run's first K hold."""
    rows = _places(report).filter((pl.col("run") == run) & (pl.col("place") <= k))
    return rows.select("query_id", "fact_id").collect()


def difference_of(report: Report, run: str, other: str, k: int) -> FactDifference | None:
    """Two runs compared at one K; None where facts that no document supports do not count, for which there
    are no bounds, and where a former version made the report."""
    facts = facts_in(report)
    place = beside(report, TOPS)
    if facts is None or facts["conventions"]["denominator"] != "all" or not default_storage.exists(place):
        return None
    tops, both, places = pl.scan_parquet(local_path(place)), [], pl.DataFrame()
    for name in (run, other):
        places = places_of(report, name).select("query_id", "judged", "place").collect()
        nearest = places["place"].cast(pl.Float64).fill_null(float("inf")).to_numpy()
        both.append(ComparedRun(nearest, tops.filter(pl.col("run") == name).drop("run").collect()))
    return compared_facts(
        (both[0], both[1]),
        k,
        facts["conventions"]["interval"],
        query=places["query_id"].rle_id().cast(pl.Int64).to_numpy(),  # every query of a report has a fact
        is_judged=places["judged"].to_numpy(),
        skips_missing=facts["conventions"]["missing"] == "skip",
    )


def fill_others(report: Report, run: str, k: int, rows: Sequence[FactRow]) -> None:
    """Name the other runs whose first K hold each of some facts."""
    queries = sorted({row.query_id for row in rows})
    places = _places(report).filter(
        pl.col("query_id").is_in(queries) & (pl.col("run") != run) & (pl.col("place") <= k)
    )
    others: dict[tuple[str, str], list[str]] = {}
    for query, fact, other in places.select("query_id", "fact_id", "run").collect().iter_rows():
        others.setdefault((query, fact), []).append(other)
    for row in rows:
        row.others = others.get((row.query_id, row.fact_id), [])


def _places(report: Report) -> pl.LazyFrame:
    return pl.scan_parquet(local_path(beside(report, PLACES)))


def stale_documents(report: Report, run: str, k: int) -> list[StaleDocument]:
    """The documents in a run's first K that bring nothing new, by query and place."""
    rows = pl.scan_parquet(local_path(beside(report, DOCUMENTS))).filter(
        (pl.col("run") == run) & (pl.col("place") <= k) & (pl.col("new") == 0)
    )
    stale = rows.select("query_id", "document_id", "place", "supported").sort("query_id", "place")
    return [StaleDocument(*row) for row in stale.collect().iter_rows()]


class RunFacts(TypedDict):
    run: str
    recall: FactFigure
    vital: FactFigure
    alpha: FactFigure | None
    redundancy: FactFigure | None
    context: ContextFigure | None


def fact_table_rows(facts: ReportFacts, runs: Sequence[str], k: int) -> list[RunFacts]:
    rows: list[RunFacts] = []
    for run in runs:
        figures, context = facts["runs"][run], facts["context"][run].get(str(k))
        rows.append(
            {
                "run": run,
                "recall": figures[f"fact_recall@{k}"],
                "vital": facts["vital"][run][f"fact_recall@{k}"],
                "alpha": figures.get(f"alpha_ndcg@{k}"),
                "redundancy": figures.get(f"redundancy@{k}"),
                "context": context,
            }
        )
    return rows
