"""Where each fact stands in a run, and what each retrieved document adds: pure, over small arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.facts.shapes import ContextFigure
from evaluation.facts.table import FactTable, RunPlaces
from evaluation.measures.significance import IntervalSettings, mean_intervals
from pooling.heavy import Floats, np, pl


def fact_places(table: FactTable, run: RunPlaces) -> pl.DataFrame:
    """query_id, fact_id, text, importance, group, place (of the first document that supports the fact; null
    where none is retrieved), document_id (that document), part (the first place that supports a part),
    findable (whether any judged document supports it), judged (whether any document was judged for it). A row
    for each fact.
    """
    documents = table.document_ids
    whole, part, findable, judged, first = [], [], [], [], []
    for number, facts in enumerate(table.facts):
        weights, places = table.queries[number].judged_weights, run.places[number][:, None]
        # A last row for no document at all, so that there is always a least one.
        nowhere = np.full(len(facts), np.inf)
        whole_places = np.vstack((np.where(weights >= 1, places, np.inf), nowhere))
        rows = np.argmin(whole_places, axis=0)
        whole.append(whole_places[rows, np.arange(len(facts))])
        part.append(np.min(np.where(weights >= 0.5, places, np.inf), axis=0, initial=np.inf))
        findable.append((weights >= 1).any(axis=0))
        judged.append(table.queries[number].is_judged.any(axis=0))
        first += [documents[number][row] if row < len(weights) else "" for row in rows.tolist()]
    listed = [
        (query, fact) for query, some in zip(table.query_ids, table.facts, strict=True) for fact in some
    ]
    frame = pl.DataFrame(
        {
            "query_id": [query for query, _ in listed],
            "fact_id": [fact.fact_id for _, fact in listed],
            "text": [fact.text for _, fact in listed],
            "importance": [fact.importance for _, fact in listed],
            "group": [fact.group for _, fact in listed],
            "place": np.concatenate(whole),
            "document_id": first,
            "part": np.concatenate(part),
            "findable": np.concatenate(findable),
            "judged": np.concatenate(judged),
        }
    )
    return frame.with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).cast(pl.UInt32) for name in ("place", "part")
    ).with_columns(document_id=pl.when(pl.col("place").is_not_null()).then(pl.col("document_id")))


@dataclass(frozen=True)
class DocumentFacts:
    """What the retrieved documents of a run add. frame: query_id, document_id, place, supported (facts that
    it supports), new (those that no document above does), of the documents that support any in the first K.
    """

    table: FactTable
    frame: pl.DataFrame

    def fact_counts(self, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) facts held by the first K."""
        return self._sums("new", cutoffs)

    def nothing_new(self, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) the share of the first K that supports a fact and adds none."""
        stale = self.frame.filter(pl.col("new") == 0).with_columns(one=pl.lit(1))
        counts: Floats = DocumentFacts(self.table, stale)._sums("one", cutoffs) / np.array(cutoffs)
        return counts

    def characters(self, ordered: pl.DataFrame, lengths: Mapping[str, int], cutoffs: Sequence[int]) -> Floats:
        """(Q, C) characters of the first K of a run; NaN where the text of one is not known, and where the
        run does not answer the query."""
        first = ordered.filter(
            pl.col("query_id").is_in(list(self.table.query_ids)) & (pl.col("position") <= max(cutoffs))
        )
        length = pl.DataFrame(
            {"document_id": list(lengths), "length": [float(one) for one in lengths.values()]},
            schema={"document_id": pl.String, "length": pl.Float64},
        )
        rows = first.join(length, on="document_id", how="left").select(
            "query_id", place="position", length=pl.col("length").fill_null(float("nan"))
        )
        sums = DocumentFacts(self.table, rows)._sums("length", cutoffs)
        answered = np.isin(np.array(self.table.query_ids), rows["query_id"].unique().to_numpy())
        sums[~answered] = np.nan
        return sums

    def _sums(self, column: str, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) sums of a column over the first K."""
        numbers = {query: number for number, query in enumerate(self.table.query_ids)}
        rows = np.array([numbers[query] for query in self.frame["query_id"].to_list()], dtype=np.int64)
        place = self.frame["place"].to_numpy()
        values = self.frame[column].to_numpy().astype(np.float64)
        count = len(self.table.query_ids)
        return np.stack(
            [np.bincount(rows[place <= k], weights=values[place <= k], minlength=count) for k in cutoffs],
            axis=1,
        ).astype(np.float64)


def document_facts(table: FactTable, run: RunPlaces, deepest: int) -> DocumentFacts:
    """The documents in the first `deepest` that support a fact, with how many they support and add."""
    documents = table.document_ids
    rows: list[tuple[str, str, int, int, int]] = []
    for number, query in enumerate(table.query_ids):
        supports, places = table.queries[number].supports, run.places[number]
        seen = np.zeros(supports.shape[1], dtype=np.bool_)
        order = np.flatnonzero(places <= deepest)
        for row in order[np.argsort(places[order], kind="stable")]:
            mine = supports[row]
            if mine.any():
                added = int(np.count_nonzero(mine & ~seen))
                rows.append(
                    (query, documents[number][row], int(places[row]), int(np.count_nonzero(mine)), added)
                )
                seen |= mine
    schema = {
        "query_id": pl.String,
        "document_id": pl.String,
        "place": pl.UInt32,
        "supported": pl.UInt32,
        "new": pl.UInt32,
    }
    return DocumentFacts(table, pl.DataFrame(rows, schema=schema, orient="row"))


def context_figures(
    runs: Mapping[str, DocumentFacts],
    frames: Mapping[str, pl.DataFrame],
    lengths: Mapping[str, int],
    *,
    cutoffs: Sequence[int],
    intervals: IntervalSettings,
) -> dict[str, dict[str, ContextFigure]]:
    """By run and K: see `ContextFigure`. A query with a text that is not known in its first K is left out."""
    characters = [runs[name].characters(frame, lengths, cutoffs) for name, frame in frames.items()]
    densities = []
    for name, lengths_of_run in zip(frames, characters, strict=True):
        counts = runs[name].fact_counts(cutoffs)
        with np.errstate(divide="ignore", invalid="ignore"):
            densities.append(np.where(lengths_of_run > 0, 1000 * counts / lengths_of_run, np.nan))
    low, high = _limits(np.concatenate(densities, axis=1), intervals)
    figures: dict[str, dict[str, ContextFigure]] = {}
    for number, name in enumerate(frames):
        stale, density, first = runs[name].nothing_new(cutoffs), densities[number], number * len(cutoffs)
        figures[name] = {
            str(k): {
                "characters": _mean(characters[number][:, place]),
                "facts": _mean(density[:, place]),
                "low": low[first + place],
                "high": high[first + place],
                "nothing_new": _mean(stale[:, place]),
            }
            for place, k in enumerate(cutoffs)
        }
    return figures


def _limits(values: Floats, made: IntervalSettings) -> tuple[Sequence[float | None], Sequence[float | None]]:
    limits = mean_intervals(values, samples=made["samples"], seed=made["seed"], level=made["level"])
    low, high = ([None if np.isnan(one) else float(one) for one in limits[side]] for side in (0, 1))
    return low, high


def _mean(values: Floats) -> float | None:
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else None
